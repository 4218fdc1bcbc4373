"""VQ autoencoder for short audio frames; codebook by EMA (no gradient), encoder by commitment + usage entropy.

python train_vq.py --codes 16 --steps 8
"""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class EMAQuantizer(nn.Module):
    def __init__(self, codes, dim, decay=0.8, eps=1e-5, temperature=1.0):
        super().__init__()
        self.codes, self.decay, self.eps, self.temperature = codes, decay, eps, temperature
        book = torch.randn(codes, dim)
        self.register_buffer("codebook", book)
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", book.clone())

    def usage_entropy(self, dist):
        """Soft assignment; per-sample entropy low, batch entropy high (as in MaskGIT / LFQ)."""
        p = F.softmax(-dist / self.temperature, dim=-1)
        sample = -(p * p.clamp_min(1e-8).log()).sum(-1).mean()
        mean = p.mean(0)
        batch = -(mean * mean.clamp_min(1e-8).log()).sum()
        return sample - batch

    @torch.no_grad()
    def ema_update(self, z, onehot):
        self.count.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(onehot.t() @ z, alpha=1 - self.decay)
        n = self.count.sum()
        smoothed = (self.count + self.eps) / (n + self.codes * self.eps) * n
        self.codebook.data.copy_(self.total / smoothed.unsqueeze(1))

    def forward(self, z):
        dist = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.codebook.data.t() + self.codebook.pow(2).sum(1)
        idx = dist.argmin(1)
        onehot = F.one_hot(idx, self.codes).type_as(z)
        q = F.embedding(idx, self.codebook)
        if self.training:
            self.ema_update(z, onehot)
        commit = F.mse_loss(z, q.detach())
        entropy = self.usage_entropy(dist)
        q = z + (q - z).detach()
        return q, commit, entropy, idx


class FrameVQ(nn.Module):
    def __init__(self, frame, dim, codes):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(frame, 24), nn.LeakyReLU(0.2), nn.Linear(24, dim))
        self.vq = EMAQuantizer(codes, dim)
        self.dec = nn.Sequential(nn.Linear(dim, 24), nn.LeakyReLU(0.2), nn.Linear(24, frame))

    def forward(self, x):
        q, commit, entropy, idx = self.vq(self.enc(x))
        return self.dec(q), commit, entropy, idx


def frames(n, size):
    f = torch.rand(n, 1) * 0.3 + 0.05
    phase = torch.rand(n, 1) * 2 * math.pi
    return torch.sin(2 * math.pi * f * torch.arange(size) + phase) + 0.02 * torch.randn(n, size)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--codes", type=int, default=16)
    ap.add_argument("--dim", type=int, default=6)
    ap.add_argument("--frame", type=int, default=20)
    ap.add_argument("--steps", type=int, default=8)
    ap.add_argument("--beta", type=float, default=0.25)
    ap.add_argument("--gamma", type=float, default=0.1)
    args = ap.parse_args([])

    torch.manual_seed(0)
    model = FrameVQ(args.frame, args.dim, args.codes)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for step in range(args.steps):
        x = frames(48, args.frame)
        rec, commit, entropy, idx = model(x)
        loss = F.l1_loss(rec, x) + args.beta * commit + args.gamma * entropy
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"step {step} loss {loss.item():.5f} commit {commit.item():.5f} used {idx.unique().numel()}")
    print(f"codebook norm {model.vq.codebook.norm().item():.5f}")


if __name__ == "__main__":
    main()
