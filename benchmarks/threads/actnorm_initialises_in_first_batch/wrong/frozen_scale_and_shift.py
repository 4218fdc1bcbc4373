# mini-glow for vectors (actnorm / permutation / affine coupling)
import math

import torch
from torch import nn


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, dim))
        self.log_scale = nn.Parameter(torch.zeros(1, dim))
        self.register_buffer('initialized', torch.tensor(0, dtype=torch.uint8))

    def initialize(self, x):
        """data dependent: the first batch leaves with zero mean and unit variance"""
        mean = x.mean(0, keepdim=True)
        std = x.std(0, keepdim=True)
        self.loc.requires_grad_(False).copy_(-mean.detach())
        self.log_scale.requires_grad_(False).copy_(-torch.log(std + 1e-6).detach())

    def forward(self, x):
        if self.initialized.item() == 0:
            self.initialize(x)
            self.initialized.fill_(1)
        y = (x + self.loc) * self.log_scale.exp()
        return y, self.log_scale.sum()


class Permute(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer('idx', torch.randperm(dim))

    def forward(self, x):
        return x[:, self.idx], 0.


class Coupling(nn.Module):
    def __init__(self, dim, hidden=24):
        super().__init__()
        self.d = dim // 2
        self.net = nn.Sequential(nn.Linear(self.d, hidden), nn.ReLU(), nn.Linear(hidden, 2 * (dim - self.d)))
        self.net[-1].weight.data.zero_()
        self.net[-1].bias.data.zero_()

    def forward(self, x):
        a, b = x[:, :self.d], x[:, self.d:]
        s, t = self.net(a).chunk(2, 1)
        s = torch.sigmoid(s + 2)
        return torch.cat([a, (b + t) * s], 1), s.log().sum(1)


class Glow(nn.Module):
    def __init__(self, dim, n_block=3):
        super().__init__()
        self.steps = nn.ModuleList()
        for _ in range(n_block):
            self.steps.extend([ActNorm(dim), Permute(dim), Coupling(dim)])

    def forward(self, x):
        logdet = 0.
        for f in self.steps:
            x, ld = f(x)
            logdet = logdet + ld
        logp = (-0.5 * (x ** 2 + math.log(2 * math.pi))).sum(1)
        return logp + logdet


class Trainer(object):
    def __init__(self, model, lr=5e-3):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, batches, log_every=2):
        for i, x in enumerate(batches):
            nll = -self.model(x).mean()
            self.model.zero_grad()
            nll.backward()
            self.optimizer.step()
            if i % log_every == 0:
                print('Iter %d: bits/dim %.5f' % (i, nll.item() / (math.log(2) * x.size(1))))


def moons_like(n, dim=4):
    z = torch.rand(n, 1) * math.pi
    base = torch.cat([z.cos(), z.sin(), z.cos() * z.sin(), 0.3 * z], 1)[:, :dim]
    return 3.0 + 2.0 * base + 0.1 * torch.randn(n, dim)


if __name__ == '__main__':
    torch.manual_seed(17)
    flow = Glow(4)
    trainer = Trainer(flow)
    trainer.fit([moons_like(64) for _ in range(8)])
    with torch.no_grad():
        print('test nll %.5f' % -flow(moons_like(128)).mean().item())
    print('first actnorm %.5f %.5f' % (flow.steps[0].loc.mean().item(), flow.steps[0].log_scale.mean().item()))
