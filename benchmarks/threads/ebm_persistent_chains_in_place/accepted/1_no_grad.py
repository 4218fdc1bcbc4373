"""Persistent contrastive divergence for a small energy-based model on two moons."""
import math

import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.f(x).squeeze(-1) + 0.05 * x.square().sum(-1)


class PersistentChains:
    """Tieleman's trick: the Markov chains are never restarted, each update goes on where the last one stopped."""

    def __init__(self, n, step=0.05, noise=0.05, k=6):
        self.x = (4 * torch.rand(n, 2) - 2).requires_grad_(True)
        self.n, self.step, self.noise, self.k = n, step, noise, k
        self.at = 0

    def advance(self, energy, count):
        """k langevin steps for the next `count` chains"""
        lo = self.at
        self.at = (self.at + count) % self.n
        x = self.x[lo:lo + count]
        for p in energy.parameters():
            p.requires_grad_(False)
        for _ in range(self.k):
            grad, = torch.autograd.grad(energy(x).sum(), x)
            with torch.no_grad():
                x -= self.step * grad.clamp(-1, 1)
                x += self.noise * torch.randn(count, 2)
        for p in energy.parameters():
            p.requires_grad_(True)
        return x.detach()


def moons(n, noise=0.08):
    t = math.pi * torch.rand(n)
    up = (torch.arange(n) % 2 == 0).float()
    x = torch.stack([torch.cos(t), torch.sin(t)], 1)
    x = up[:, None] * x + (1 - up)[:, None] * (torch.tensor([1.0, 0.5]) - x)
    return x + noise * torch.randn(n, 2)


class Trainer:
    def __init__(self, batch=40, chains=80, lr=2e-3, reg=0.05):
        self.energy = Energy()
        self.chains = PersistentChains(chains)
        self.opt = torch.optim.Adam(self.energy.parameters(), lr=lr, betas=(0.5, 0.99))
        self.batch, self.reg = batch, reg

    def step(self, real):
        fake = self.chains.advance(self.energy, self.batch)
        e_real, e_fake = self.energy(real), self.energy(fake)
        loss = e_real.mean() - e_fake.mean() + self.reg * (e_real.square() + e_fake.square()).mean()
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_value_(self.energy.parameters(), 1.0)
        self.opt.step()
        return loss.item(), (e_real.mean() - e_fake.mean()).item()


def main():
    torch.manual_seed(77)
    data = moons(400)
    trainer = Trainer()
    for it in range(10):
        real = data[torch.randint(0, len(data), (trainer.batch,))]
        loss, gap = trainer.step(real)
        if it % 3 == 0:
            print(f"{it:4d} loss {loss:+.5f} gap {gap:+.5f}")
    x = trainer.chains.x.detach()
    print("chains mean %.5f %.5f spread %.5f" % (x[:, 0].mean().item(), x[:, 1].mean().item(), x.std().item()))


if __name__ == "__main__":
    main()
