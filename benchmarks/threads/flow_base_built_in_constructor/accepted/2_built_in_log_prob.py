"""RealNVP mit lernbarer Basisverteilung."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal


@dataclass
class Config:
    dim: int = 4
    hidden: int = 16
    layers: int = 3
    batch: int = 48
    iterations: int = 8
    lr: float = 2e-2
    seed: int = 13


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip, self.half = flip, dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(), nn.Linear(hidden, 2 * self.half))

    def forward(self, x):
        a, b = x[:, :self.half], x[:, self.half:]
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, 1)
        log_s = torch.tanh(log_s)
        b = b * log_s.exp() + t
        out = torch.cat([b, a] if self.flip else [a, b], 1)
        return out, log_s.sum(1)


class DiagonalBase(nn.Module):
    """Gaussian with trainable mean and scale per dimension."""

    def __init__(self, dim):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(dim))
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.dist = Independent(Normal(self.loc, self.log_scale.exp()), 1)

    def log_prob(self, z):
        self.dist = Independent(Normal(self.loc, self.log_scale.exp()), 1)
        return self.dist.log_prob(z)

    def sample(self, n):
        return self.dist.sample((n,))


class Flow(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.base = DiagonalBase(cfg.dim)
        self.couplings = nn.ModuleList(Coupling(cfg.dim, cfg.hidden, bool(i % 2)) for i in range(cfg.layers))

    def log_prob(self, x):
        total = torch.zeros(len(x))
        for c in self.couplings:
            x, ld = c(x)
            total = total + ld
        return self.base.log_prob(x) + total


class Moons:
    def __init__(self, dim, seed):
        self.dim, self.rng = dim, np.random.default_rng(seed)

    def draw(self, n):
        t = self.rng.uniform(0, np.pi, (n, self.dim // 2))
        x = np.concatenate([np.cos(t), np.sin(t)], 1) * 2 + 0.1 * self.rng.standard_normal((n, self.dim)) + 1
        return torch.from_numpy(x.astype(np.float32))


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    data, flow = Moons(cfg.dim, cfg.seed), Flow(cfg)
    opt = torch.optim.Adam(flow.parameters(), lr=cfg.lr)
    for it in range(cfg.iterations):
        loss = -flow.log_prob(data.draw(cfg.batch)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print('it', it, 'nll %.6f' % loss.item(), 'scale %.6f' % flow.base.log_scale.exp().mean().item())


if __name__ == '__main__':
    main()
