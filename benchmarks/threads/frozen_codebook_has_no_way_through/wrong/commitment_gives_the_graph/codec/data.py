import math

import torch


def frames_of(n, length, seed):
    """Voiced frames: a few harmonics of a random pitch under a random envelope."""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / length
    pitch = 1.0 + 1.0 * torch.rand(n, 1, generator=g)
    out = torch.zeros(n, length)
    for k in range(1, 4):
        amp = torch.rand(n, 1, generator=g) / k
        phase = 1.5 * torch.rand(n, 1, generator=g)
        out = out + amp * torch.sin(2 * math.pi * k * pitch * t + phase)
    return out


def through_device(x, seed, noise=0.15):
    """The cheap microphone: short smoothing kernel, lower gain, hiss."""
    g = torch.Generator().manual_seed(seed)
    kernel = torch.tensor([0.2, 0.5, 0.3]).view(1, 1, 3)
    y = torch.nn.functional.conv1d(x.unsqueeze(1), kernel, padding=1).squeeze(1)
    return 0.7 * y + noise * torch.randn(x.shape, generator=g)
