"""Conditional affine coupling flow on two-moon like points."""
import math

import torch
import torch.nn as nn

torch.manual_seed(7)


class CouplingNet(nn.Module):
    def __init__(self, dim, cond, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + cond, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(),
                                 nn.Linear(hidden, 2 * dim))

    def forward(self, z, y):
        return self.net(torch.cat([z, y], dim=1))


class AffineTransform:
    """z -> scale * z + mu with a scale that is kept within 1 +- alpha."""

    def __init__(self, alpha):
        self.alpha = alpha

    def calc_params(self, params):
        mu = params.chunk(2, dim=1)[0]
        log_scale = params.detach().clone().chunk(2, dim=1)[1].clone()
        scale = log_scale.mul_(0.5).tanh_().mul(self.alpha).add(1.0)
        return mu, scale

    def fwd(self, z, params):
        mu, scale = self.calc_params(params)
        return scale * z + mu, scale.log().sum(dim=1)

    def bwd(self, z, params):
        mu, scale = self.calc_params(params)
        return (z - mu) / (scale + 1e-12)


class Coupling(nn.Module):
    def __init__(self, features, cond, swap, alpha=0.9):
        super().__init__()
        self.half = features // 2
        self.swap = swap
        self.net = CouplingNet(self.half, cond)
        self.transform = AffineTransform(alpha)

    def forward(self, x, y):
        a, b = x[:, :self.half], x[:, self.half:]
        if self.swap:
            a, b = b, a
        b, logdet = self.transform.fwd(b, self.net(a, y))
        if self.swap:
            a, b = b, a
        return torch.cat([a, b], dim=1), logdet


class Flow(nn.Module):
    def __init__(self, features=4, cond=2, depth=4):
        super().__init__()
        self.steps = nn.ModuleList([Coupling(features, cond, swap=i % 2 == 1) for i in range(depth)])

    def log_prob(self, x, y):
        total = x.new_zeros(x.size(0))
        for step in self.steps:
            x, logdet = step(x, y)
            total = total + logdet
        base = -0.5 * (x ** 2).sum(dim=1) - 0.5 * x.size(1) * math.log(2 * math.pi)
        return base + total


def batches(n, size):
    for _ in range(n):
        label = torch.randint(0, 2, (size,))
        t = torch.rand(size) * math.pi
        x = torch.stack([t.cos() + label, t.sin() * (1 - 2 * label.float()), t.cos() * 0.5, t.sin() + 0.3], dim=1)
        yield x + 0.05 * torch.randn_like(x), nn.functional.one_hot(label, 2).float()


flow = Flow()
optimizer = torch.optim.Adamax(flow.parameters(), lr=5e-3)
for step, (x, y) in enumerate(batches(30, 64)):
    loss = -flow.log_prob(x, y).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    optimizer.step()
    if step % 10 == 0 or step == 29:
        print(f"step {step} nll {loss.item():.5f}")
