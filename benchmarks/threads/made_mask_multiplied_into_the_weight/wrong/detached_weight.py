import argparse, math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

def parse():
  p = argparse.ArgumentParser()
  p.add_argument('--blocks', type=int, default=2)
  p.add_argument('--hidden', type=int, default=24)
  p.add_argument('--epochs', type=int, default=3)
  p.add_argument('--batch', type=int, default=64)
  p.add_argument('--lr', type=float, default=4e-3)
  p.add_argument('--seed', type=int, default=1)
  return p.parse_args()


class MaskedLinear(nn.Linear):
  """ Linear layer whose connections are limited by a 0/1 mask """
  def __init__(self, n_in, n_out):
    super().__init__(n_in, n_out)
    self.register_buffer('mask', torch.ones(n_out, n_in))

  def set_mask(self, mask):
    self.mask.copy_(torch.from_numpy(mask.astype(np.float32)).t())

  def forward(self, x):
    return F.linear(x, self.weight.detach() * self.mask, self.bias)


class MADE(nn.Module):
  def __init__(self, dim, hidden, rng):
    super().__init__()
    self.l1 = MaskedLinear(dim, hidden)
    self.l2 = MaskedLinear(hidden, hidden)
    self.mu, self.log_scale = MaskedLinear(hidden, dim), MaskedLinear(hidden, dim)
    m_in = np.arange(dim)
    m1 = rng.randint(0, dim - 1, size=hidden)
    m2 = rng.randint(m1.min(), dim - 1, size=hidden)
    self.l1.set_mask(m_in[:, None] <= m1[None, :])
    self.l2.set_mask(m1[:, None] <= m2[None, :])
    for head in (self.mu, self.log_scale):
      head.set_mask(m2[:, None] < m_in[None, :])

  def forward(self, x):
    h = F.relu(self.l1(x))
    h = F.relu(self.l2(h))
    return self.mu(h), torch.tanh(self.log_scale(h))


class MAF(nn.Module):
  """ x -> u, in one pass; the order of the variables is turned round between blocks """
  def __init__(self, dim, hidden, n_blocks, seed):
    super().__init__()
    rng = np.random.RandomState(seed)
    self.blocks = nn.ModuleList([MADE(dim, hidden, rng) for _ in range(n_blocks)])

  def log_prob(self, x):
    total = x.new_zeros(x.size(0))
    for made in self.blocks:
      mu, s = made(x)
      x = (x - mu) * torch.exp(-s)
      total = total - s.sum(1)
      x = x.flip(1)
    base = -0.5 * (x ** 2 + math.log(2 * math.pi)).sum(1)
    return base + total


def two_moons_4d(n):
  g = np.random.RandomState(3)
  t = g.rand(n) * np.pi
  side = g.randint(0, 2, n)
  a = np.stack([np.cos(t) + side - .5, np.sin(t) * (1 - 2 * side) + .3 * side], 1) + .08 * g.randn(n, 2)
  b = np.stack([a[:, 0] * a[:, 1], np.sin(2 * a[:, 0])], 1) + .1 * g.randn(n, 2)
  x = np.concatenate([a, b], 1)
  return torch.from_numpy(((x - x.mean(0)) / x.std(0)).astype(np.float32))


def order_violation(flow, x):
  """ the mean of variable i must not depend on x[j], j >= i """
  x = x[:1].clone().requires_grad_()
  mu, _ = flow.blocks[0](x)
  J = torch.stack([torch.autograd.grad(mu[0, i], x, retain_graph=True)[0][0] for i in range(x.size(1))])
  return torch.triu(J).abs().max().item()


def main():
  args = parse()
  torch.manual_seed(args.seed)
  data = two_moons_4d(256)
  flow = MAF(4, args.hidden, args.blocks, args.seed)
  opt = torch.optim.Adam(flow.parameters(), lr=args.lr)
  for epoch in range(args.epochs):
    perm = torch.randperm(len(data))
    for i in range(0, len(data), args.batch):
      batch = data[perm[i:i + args.batch]]
      loss = -flow.log_prob(batch).mean()
      opt.zero_grad()
      loss.backward()
      opt.step()
    print('epoch', epoch, 'nll %.5f' % loss.item())
  print('violation %.6f' % order_violation(flow, data))

if __name__ == '__main__':
  main()
