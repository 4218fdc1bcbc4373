import math

import torch


def make_utterances(n, length):
    g = torch.Generator().manual_seed(5)
    t = torch.arange(length) / 160.0
    f = 2 + 14 * torch.rand(n, 4, 1, generator=g)
    seg = torch.sin(2 * math.pi * f * t)                       # four tones each
    which = torch.arange(length) * 4 // length
    wav = seg.gather(1, which.expand(n, 1, length)).squeeze(1)
    return wav + 0.05 * torch.randn(n, length, generator=g)
