"""SpectralNet-style clustering of session embeddings (toy version).

The last layer is not trained: it is set by an orthonormalisation pass so that the embedding of a
batch satisfies Y^T Y = m I, then a few gradient steps follow with that layer in place.
"""
import argparse
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn


def make_sessions(n_per_cluster, seed):
    """two interleaved half moons and a blob above them"""
    rng = np.random.RandomState(seed)
    t = rng.uniform(0, math.pi, n_per_cluster)
    upper = np.stack([np.cos(t), np.sin(t)], 1)
    lower = np.stack([1 - np.cos(t), 0.4 - np.sin(t)], 1)
    blob = rng.normal([0.5, 2.2], 0.15, size=(n_per_cluster, 2))
    x = np.concatenate([upper, lower, blob]) + rng.normal(0, 0.06, (3 * n_per_cluster, 2))
    y = np.repeat(np.arange(3), n_per_cluster)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def knn_affinity(x, k, scale_k):
    d = torch.cdist(x, x)
    near = d.topk(k + 1, largest=False)
    sigma = near.values[:, scale_k].median()
    w = torch.zeros_like(d)
    w.scatter_(1, near.indices, torch.exp(-near.values ** 2 / (2 * sigma ** 2)))
    w.fill_diagonal_(0)
    return (w + w.t()) / 2


class SpectralNet(nn.Module):
    def __init__(self, n_in, hidden, n_clusters):
        super().__init__()
        sizes = [n_in] + hidden
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.LeakyReLU(0.1)]
        layers += [nn.Linear(sizes[-1], n_clusters), nn.Tanh()]
        self.net = nn.Sequential(*layers)
        self.ortho_weights = torch.eye(n_clusters)

    def orthonorm_weights(self, y, eps=1e-4):
        m, k = y.shape
        gram = y.t() @ y + eps * torch.eye(k)
        chol = torch.linalg.cholesky(gram)
        return math.sqrt(m) * torch.linalg.inv(chol).t()

    def forward(self, x, orthonormalize=False):
        y = self.net(x)
        if orthonormalize:
            self.ortho_weights = self.orthonorm_weights(y)
        return y @ self.ortho_weights


class SpectralLoss(nn.Module):
    def forward(self, w, y):
        dist = ((y[:, None] - y[None]) ** 2).sum(-1)
        return (w * dist).sum() / (2 * y.size(0))


def kmeans(y, k, iters=15):
    centers = [y[0]]
    for _ in range(1, k):
        d = torch.stack([((y - c) ** 2).sum(1) for c in centers]).min(0).values
        centers.append(y[d.argmax()])
    centers = torch.stack(centers)
    for _ in range(iters):
        label = torch.cdist(y, centers).argmin(1)
        centers = torch.stack([y[label == j].mean(0) if (label == j).any() else centers[j] for j in range(k)])
    return label


def purity(label, truth, k):
    hits = 0
    for j in range(k):
        inside = truth[label == j]
        if len(inside):
            hits += torch.bincount(inside).max().item()
    return hits / len(truth)


class SpectralTrainer:
    def __init__(self, model, args):
        self.model = model
        self.args = args
        self.criterion = SpectralLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, factor=0.5, patience=3)

    def _loader(self, x):
        order = torch.randperm(len(x))
        for i in range(0, len(x) - self.args.batch_size + 1, self.args.batch_size):
            yield x[order[i:i + self.args.batch_size]]

    def train_epoch(self, x):
        self.model.train()
        losses = []
        for step, x_grad in enumerate(self._loader(x)):
            # orthonormalisation step
            if step % self.args.ortho_every == 0:
                x_ortho = x[torch.randint(len(x), (self.args.batch_size,))]
                with torch.no_grad():
                    self.model(x_ortho, orthonormalize=True)

            # gradient step
            w = knn_affinity(x_grad, self.args.neighbors, self.args.scale_k)
            y = self.model(x_grad)
            loss = self.criterion(w, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def embed(self, x):
        self.model.eval()
        with torch.no_grad():
            return self.model(x)

    def fit(self, x, truth):
        folder = tempfile.mkdtemp()
        for epoch in range(1, self.args.epochs + 1):
            loss = self.train_epoch(x)
            self.scheduler.step(loss)
            y = self.embed(x)
            print("epoch %d  spectral loss %.6f  |y| %.5f  lr %.5f"
                  % (epoch, loss, y.norm(dim=1).mean(), self.optimizer.param_groups[0]["lr"]))
            torch.save(self.model.state_dict(), os.path.join(folder, "spectral.pth"))
        label = kmeans(self.embed(x), self.args.n_clusters)
        print("purity %.4f" % purity(label, truth, self.args.n_clusters))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n-clusters", type=int, default=3)
    parser.add_argument("--neighbors", type=int, default=8)
    parser.add_argument("--scale-k", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=60)
    parser.add_argument("--ortho-every", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(2024)
    x, truth = make_sessions(120, seed=5)
    x = (x - x.mean(0)) / x.std(0)
    trainer = SpectralTrainer(SpectralNet(2, [32, 32], args.n_clusters), args)
    trainer.fit(x, truth)
