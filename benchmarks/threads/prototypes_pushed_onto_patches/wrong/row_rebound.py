#!/usr/bin/env python3
"""ProtoPNet in small: prototypes are learned, pushed onto the nearest training patch of their class, then trained on."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class PPNet(nn.Module):
    def __init__(self, channels, n_classes, per_class):
        super().__init__()
        self.n_classes = n_classes
        self.features = nn.Sequential(nn.Conv1d(1, channels, 5, stride=2), nn.ReLU(), nn.Conv1d(channels, channels, 3), nn.Sigmoid())
        m = n_classes * per_class
        self.prototype_vectors = nn.Parameter(torch.rand(m, channels))
        self.prototype_class = torch.arange(m) // per_class
        self.last_layer = nn.Linear(m, n_classes, bias=False)
        own = F.one_hot(self.prototype_class, n_classes).float().t()
        self.last_layer.weight.data.copy_(own - 0.5 * (1 - own))

    def distances(self, x):
        z = self.features(x).transpose(1, 2)
        return z, ((z.unsqueeze(2) - self.prototype_vectors) ** 2).sum(-1)

    def forward(self, x):
        _, d = self.distances(x)
        min_d = d.min(1).values
        return self.last_layer(torch.log((min_d + 1) / (min_d + 1e-4))), min_d

    def push(self, x, y):
        """Every prototype becomes the closest patch of its class. Returns how far they moved."""
        moved = []
        with torch.no_grad():
            z, d = self.distances(x)
        for j in range(len(self.prototype_vectors)):
            mine = torch.nonzero(y == self.prototype_class[j]).squeeze(1)
            best = torch.argmin(d[mine, :, j])
            patch = z[mine].reshape(-1, z.size(-1))[best]
            moved.append((self.prototype_vectors[j] - patch).norm().item())
            vector = self.prototype_vectors[j]
            vector = patch
        return sum(moved) / len(moved)


def heartbeats(n, length):
    y = torch.arange(n) % 2
    t = torch.linspace(-1, 1, length)
    width = torch.where(y == 0, 0.1, 0.3).unsqueeze(1)
    return (torch.exp(-(t / width) ** 2) + 0.1 * torch.randn(n, length)).unsqueeze(1), y


def losses(net, x, y):
    logits, min_d = net(x)
    own = net.prototype_class.unsqueeze(0) == y.unsqueeze(1)
    cluster = min_d.masked_fill(~own, 1e3).min(1).values.mean()
    separation = min_d.masked_fill(own, 1e3).min(1).values.mean()
    return F.cross_entropy(logits, y), cluster, separation


def train_epoch(net, optimizer, x, y, args):
    for i in range(0, len(x), args.batch):
        ce, cluster, separation = losses(net, x[i:i + args.batch], y[i:i + args.batch])
        loss = ce + args.clst * cluster - args.sep * separation
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--clst", type=float, default=0.8)
    ap.add_argument("--sep", type=float, default=0.08)
    ap.add_argument("--push_every", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=5)
    args = ap.parse_args()
    torch.manual_seed(17)
    x, y = heartbeats(16, 24)
    net = PPNet(5, 2, 2)
    optimizer = torch.optim.Adam([
        {"params": net.features.parameters(), "lr": 3e-3},
        {"params": [net.prototype_vectors], "lr": 1e-2},
        {"params": net.last_layer.parameters(), "lr": 1e-3},
    ])
    for epoch in range(args.epochs):
        loss = train_epoch(net, optimizer, x, y, args)
        print("epoch", epoch, "loss", round(loss, 6))
        if epoch % args.push_every == 1:
            print("push", round(net.push(x, y), 6))


if __name__ == "__main__":
    main()
