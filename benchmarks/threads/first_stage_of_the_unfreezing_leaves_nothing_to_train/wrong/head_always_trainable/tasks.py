import math
import torch


def waves(freqs, n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % len(freqs)
    t = torch.linspace(0, 1, 16)
    phase = torch.rand(n, 1, generator=g) * 6.28
    f = torch.tensor(freqs)[y].unsqueeze(1)
    x = torch.sin(2 * math.pi * f * t + phase) + 0.3 * torch.randn(n, 16, generator=g)
    return x.unsqueeze(1), y


def source_task():
    return waves([.5, 1., 2., 3., 4., 6.], 240, 1)


def target_task():
    return waves([1.5, 2.5, 5.], 120, 2)
