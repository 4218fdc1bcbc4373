# deep clustering style pretraining with running centroids, CPU debug version
# 用来调试的小版本, 完整版在 cluster_ddp.py
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=8)
    p.add_argument('--k', type=int, default=4)
    p.add_argument('--momentum', type=float, default=0.7)
    p.add_argument('--tau', type=float, default=0.3)
    p.add_argument('--lr', type=float, default=0.05)
    p.add_argument('--resume', default='')  # not used here
    return p.parse_args([])


class Encoder(nn.Module):
    def __init__(self, d_in=10, d=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, 16), nn.Tanh(), nn.Linear(16, d))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class RunningCentroids(nn.Module):
    """Centroids as exponential averages of the batch means.

    The current batch enters its centroids *with* gradient (the encoder is to pull the mean of a
    cluster towards its members as well as the members towards the mean); what is left of the
    earlier batches is only a running statistic.
    """

    def __init__(self, k, dim, momentum):
        super().__init__()
        self.k = k
        self.momentum = momentum
        self.register_buffer('centroids', F.normalize(torch.randn(k, dim), dim=1))

    @torch.no_grad()
    def assign(self, z):
        return (z @ self.centroids.t()).argmax(1)

    def batch_means(self, z, a):
        onehot = F.one_hot(a, self.k).to(z.dtype)
        n = onehot.sum(0)
        means = onehot.t() @ z / n.clamp(min=1).unsqueeze(1)
        return means, n > 0

    def forward(self, z, a):
        means, seen = self.batch_means(z, a)
        mixed = self.momentum * self.centroids + (1 - self.momentum) * means
        current = torch.where(seen.unsqueeze(1), mixed, self.centroids)
        self.centroids = current.detach()
        return F.normalize(current, dim=1)


def cluster_loss(z, c, a, tau):
    logits = z @ c.t() / tau
    return F.cross_entropy(logits, a)


def fake_batches(n, bs=16, d=10):
    mus = torch.randn(4, d) * 1.5
    for _ in range(n):
        y = torch.randint(0, 4, (bs,))
        yield mus[y] + 0.5 * torch.randn(bs, d)


def main():
    args = get_args()
    torch.manual_seed(3)
    enc = Encoder()
    bank = RunningCentroids(args.k, 6, args.momentum)
    opt = torch.optim.SGD(enc.parameters(), lr=args.lr, momentum=0.9)

    for it, x in enumerate(fake_batches(args.steps)):
        z = enc(x)
        a = bank.assign(z)
        c = bank(z, a)
        loss = cluster_loss(z, c, a, args.tau)
        # compactness, 防止坍塌
        loss = loss + 0.1 * (1 - (z * c[a]).sum(1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2 == 0:
            print('iter %d loss %.6f used %d' % (it, loss.item(), len(a.unique())))
    print('norms', ' '.join('%.6f' % v for v in bank.centroids.detach().norm(dim=1).tolist()))


if __name__ == '__main__':
    main()
