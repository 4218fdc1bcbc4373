import math

import torch
from torch.utils.data import TensorDataset


def burgers(u, t_end=0.25, nu=0.01, steps=200):
    """explicit, upwinded Burgers solver with periodic boundary"""
    n = u.size(-1)
    dx, dt = 1 / n, t_end / steps
    for _ in range(steps):
        left, right = u.roll(1, -1), u.roll(-1, -1)
        adv = torch.where(u > 0, u * (u - left), u * (right - u)) / dx
        u = u + dt * (nu * (left - 2 * u + right) / dx ** 2 - adv)
    return u


def dataset(n_samples, n_grid, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.linspace(0, 1, n_grid + 1)[:-1]
    u0 = torch.zeros(n_samples, n_grid)
    for k in range(1, 4):
        amp = torch.randn(n_samples, 1, generator=g) / k
        phase = 2 * math.pi * torch.rand(n_samples, 1, generator=g)
        u0 += 0.4 * amp * torch.sin(2 * math.pi * k * x + phase)
    return TensorDataset(u0, burgers(u0))
