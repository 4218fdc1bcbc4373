import math

import torch


def mixtures(n, size, seed=6, length=512):
    """A chirp (wanted) and noise bursts."""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / length
    f = 10 + 40 * torch.rand(n, 1, generator=g)
    target = torch.sin(2 * math.pi * f * t * (1 + 0.5 * t))
    gate = (torch.sin(2 * math.pi * 3 * t + torch.rand(n, 1, generator=g) * 6) > 0.2).float()
    noise = torch.randn(n, length, generator=g) * gate
    for i in range(0, n, size):
        yield (target + 0.6 * noise)[i:i + size], target[i:i + size]
