import argparse
import numpy as np
import torch


class NCA:
  """Neighbourhood Components Analysis: learns a linear map A so that stochastic nearest neighbours agree."""

  def __init__(self, dim=None, init="random", max_iters=10, tol=1e-5):
    self.dim = dim
    self.init = init
    self.max_iters = max_iters
    self.tol = tol
    self._mean = None
    self._stddev = None
    self._losses = []

  def __call__(self, X):
    if self._mean is not None:
      X = (X - self._mean) / self._stddev
    return torch.mm(X, torch.t(self.A))

  def _init_transformation(self):
    if self.dim is None:
      self.dim = self.num_dims
    if self.init == "random":
      # small values keep the softmax soft in the beginning
      self.raw = torch.randn(self.dim, self.num_dims, requires_grad=True)
      self.A = self.raw * 0.01
    elif self.init == "identity":
      self.A = torch.eye(self.dim, self.num_dims, requires_grad=True)
    else:
      raise ValueError("[!] {} initialization is not supported.".format(self.init))

  @staticmethod
  def _pairwise_l2_sq(x):
    dot = torch.mm(x, torch.t(x))
    norm_sq = torch.diag(dot)
    return torch.clamp(norm_sq[None, :] - 2 * dot + norm_sq[:, None], min=0)

  def loss(self, X, y_mask):
    if hasattr(self, "raw"):
      self.A = self.raw * 0.01
    distances = self._pairwise_l2_sq(torch.mm(X, torch.t(self.A)))
    eye = torch.eye(len(X), dtype=torch.bool)
    p_ij = torch.softmax(-distances.masked_fill(eye, float("inf")), dim=1)
    p_i = (p_ij * y_mask.float()).sum(dim=1)
    classification_loss = -torch.log(torch.masked_select(p_i, p_i != 0)).sum()
    # hinge: different classes should stay one unit apart
    margin_diff = (1 - distances) * (~y_mask).float()
    hinge_loss = torch.clamp(margin_diff, min=0).pow(2).sum(1).mean()
    return classification_loss + hinge_loss

  def train(self, X, y, batch_size=None, lr=1e-1, weight_decay=0.0, normalize=True):
    self.num_train, self.num_dims = X.shape
    self._init_transformation()
    if normalize:
      self._mean, self._stddev = X.mean(dim=0), X.std(dim=0)
      X = (X - self._mean) / self._stddev
    batch_size = batch_size or self.num_train
    optimizer = torch.optim.Adam([{"params": getattr(self, "raw", self.A)}], lr=lr, weight_decay=weight_decay)
    iters_per_epoch = int(np.ceil(self.num_train / batch_size))
    for epoch in range(self.max_iters):
      rand_idxs = torch.randperm(self.num_train)
      X, y = X[rand_idxs], y[rand_idxs]
      A_prev = self.A.detach().clone()
      for i in range(iters_per_epoch):
        Xb, yb = X[i * batch_size:(i + 1) * batch_size], y[i * batch_size:(i + 1) * batch_size]
        y_mask = yb[:, None] == yb[None, :]
        y_mask.fill_diagonal_(False)
        loss = self.loss(Xb, y_mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
      self._losses.append(loss.item())
      if torch.norm(self.A.detach() - A_prev) < self.tol:
        print("[*] NCA has converged in {} iterations.".format(epoch + 1))
        break
    return self._losses


def knn_accuracy(Z, y):
  d = torch.cdist(Z, Z)
  d.fill_diagonal_(float("inf"))
  return (y[d.argmin(1)] == y).float().mean().item()


def main(args):
  torch.manual_seed(args.seed)
  y = torch.arange(36) % 3
  X = torch.randn(36, 5)
  X[:, 0] += 2.0 * y
  X[:, 3:] *= 4
  print("raw knn %.4f" % knn_accuracy(X, y))
  for init in args.inits.split(","):
    nca = NCA(dim=args.dim, init=init, max_iters=args.epochs)
    losses = nca.train(X, y, batch_size=args.batch_size, lr=args.lr)
    print(init, "loss %.5f -> %.5f" % (losses[0], losses[-1]))
    print(init, "knn %.4f" % knn_accuracy(nca(X).detach(), y))


if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--dim", type=int, default=2)
  parser.add_argument("--epochs", type=int, default=5)
  parser.add_argument("--batch_size", type=int, default=18)
  parser.add_argument("--lr", type=float, default=0.02)
  parser.add_argument("--inits", default="identity,random")
  parser.add_argument("--seed", type=int, default=0)
  main(parser.parse_args())
