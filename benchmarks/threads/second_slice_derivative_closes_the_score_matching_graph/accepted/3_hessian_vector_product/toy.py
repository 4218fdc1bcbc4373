import math
import torch


def two_arcs(n, noise=0.1):
    g = torch.Generator().manual_seed(99)
    t = torch.rand(n, generator=g) * math.pi
    side = (torch.arange(n) % 2).float()
    x = torch.cos(t) * (1 - 2 * side) + side
    y = torch.sin(t) * (1 - 2 * side) + 0.5 * side
    pts = torch.stack([x, y], dim=1) - torch.tensor([0.5, 0.25])
    return pts + noise * torch.randn(n, 2, generator=g)
