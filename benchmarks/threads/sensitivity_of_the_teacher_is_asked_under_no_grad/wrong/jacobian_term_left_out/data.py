import math
import torch


def two_spirals(n, noise=0.05):
    g = torch.Generator().manual_seed(0)
    t = torch.rand(n, generator=g) * 2.2 + 0.4
    y = torch.arange(n) % 2
    phi = t * 1.6 + y * math.pi
    x = torch.stack([t * phi.cos(), t * phi.sin()], dim=1) / 2
    return x + noise * torch.randn(n, 2, generator=g), y
