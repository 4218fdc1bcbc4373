import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class hash_layer(torch.autograd.Function):
    """sign with a straight-through gradient, as in GreedyHash / CIBHash"""

    @staticmethod
    def forward(ctx, input):
        return torch.sign(input)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


class HashEncoder(nn.Module):
    def __init__(self, d, hidden, n_bits):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, n_bits))

    def forward(self, x):
        return hash_layer.apply(self.net(x))       # -1 / +1


def to_bits(codes):
    """{-1, +1} codes -> {0, 1} bits, what the index on disk stores"""
    return torch.sigmoid(4 * codes)


def hamming(a, b):
    """pairwise expected number of differing bits; works for bits in {0, 1}"""
    return a @ (1 - b).t() + (1 - a) @ b.t()


class PairLoss(nn.Module):
    """contrastive loss on hamming distances: same label close, other labels at least `margin` bits away"""

    def __init__(self, n_bits, margin=None):
        super().__init__()
        self.margin = margin if margin is not None else n_bits / 2
        self.n_bits = n_bits

    def forward(self, bits, y):
        d = hamming(bits, bits)
        same = (y[:, None] == y[None, :]).float()
        off = 1 - torch.eye(len(y))
        pos = same * d
        neg = (1 - same) * F.relu(self.margin - d)
        balance = (bits.mean(0) - 0.5).pow(2).sum()        # every bit used half of the time
        return ((pos + neg) * off).sum() / off.sum() / self.n_bits + 0.5 * balance


def mean_average_precision(bits, y):
    d = hamming(bits, bits) + 1e3 * torch.eye(len(y))
    order = d.argsort(dim=1, stable=True)[:, :-1]
    rel = (y[order] == y[:, None]).float()
    prec = rel.cumsum(1) / torch.arange(1, rel.size(1) + 1)
    return ((prec * rel).sum(1) / rel.sum(1).clamp(min=1)).mean().item()


def blobs(n, d, k):
    centers = 1.5 * torch.randn(k, d)
    y = torch.arange(n) % k
    return centers[y] + torch.randn(n, d), y


def main():
    parser = argparse.ArgumentParser("deep hashing")
    parser.add_argument("--n_bits", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--weight_kl", type=float, default=0.0)  # from the paper, not implemented
    args = parser.parse_args()
    torch.manual_seed(7)
    random.seed(7)

    x, y = blobs(48, 8, 4)
    enc = HashEncoder(8, args.hidden, args.n_bits)
    crit = PairLoss(args.n_bits)
    opt = torch.optim.Adam(enc.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        order = list(range(len(x)))
        random.shuffle(order)
        total = 0.0
        for i in range(0, len(order), args.batch):
            idx = torch.tensor(order[i:i + args.batch])
            bits = to_bits(enc(x[idx]))
            loss = crit(bits, y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        with torch.no_grad():
            m = mean_average_precision(to_bits(enc(x)), y)
        print("epoch %d loss %.6f mAP %.5f" % (epoch, total / 3, m))


if __name__ == "__main__":
    main()
