"""Energy model on 2-D rings, short-run Langevin negatives with a replay buffer (Du & Mordatch)."""
import math
import random

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.f(x).squeeze(-1)


class ReplayBuffer:
    def __init__(self, size=128, fresh=0.1):
        self.x = torch.rand(size, 2) * 4 - 2
        self.fresh = fresh

    def draw(self, n):
        self.idx = torch.randint(0, len(self.x), (n,))
        out = self.x[self.idx].clone()
        new = torch.rand(n) < self.fresh
        out[new] = torch.rand(int(new.sum()), 2) * 4 - 2
        return out

    def put(self, x):
        self.x[self.idx] = x


class Langevin:
    def __init__(self, energy, steps=6, step_size=0.05, noise=0.02, clip=1.0):
        self.energy, self.steps, self.step_size, self.noise, self.clip = energy, steps, step_size, noise, clip

    def __call__(self, x):
        x.requires_grad_(True)
        for _ in range(self.steps):
            self.energy(x).sum().backward()
            g = x.grad.clamp(-self.clip, self.clip)
            x = x - self.step_size * g + self.noise * torch.randn_like(x)
            x = x.detach().requires_grad_(True)
        return x


def rings(n):
    r = torch.where(torch.rand(n) < 0.5, 0.6, 1.4) + 0.05 * torch.randn(n)
    a = 2 * math.pi * torch.rand(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1)


class ContrastiveDivergence:
    def __init__(self, energy, alpha=0.1):
        self.energy, self.alpha = energy, alpha
        self.buffer = ReplayBuffer()
        self.sampler = Langevin(energy)
        self.opt = torch.optim.Adam(energy.parameters(), lr=2e-3, betas=(0.0, 0.999))

    def step(self, real):
        fake = self.sampler(self.buffer.draw(len(real)))
        self.buffer.put(fake.detach())
        e_real, e_fake = self.energy(real), self.energy(fake.detach())
        loss = e_real.mean() - e_fake.mean() + self.alpha * (e_real.pow(2) + e_fake.pow(2)).mean()
        self.opt.zero_grad()    # also what the sampler left behind
        loss.backward()
        self.opt.step()
        return loss.item(), e_real.mean().item(), e_fake.mean().item()


def main():
    torch.manual_seed(9)
    random.seed(9)
    cd = ContrastiveDivergence(Energy())
    for i in range(8):
        print("%d loss %.5f real %.5f fake %.5f" % (i, *cd.step(rings(64))))
    print("buffer radius %.5f" % cd.buffer.x.norm(dim=1).mean().item())


if __name__ == "__main__":
    main()
