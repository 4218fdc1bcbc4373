import math
import torch


def waves(n=6, variates=3, lookback=8, horizon=2):
    """a task: series of one family (own frequency, own mixing of the variates)"""
    freq = 0.3 + 0.5 * torch.rand(())
    shift = 2 * math.pi * torch.rand(variates)
    size = 0.5 + torch.rand(variates)

    def draw():
        start = 20 * torch.rand(n, 1, 1)
        t = start + torch.arange(lookback + horizon).float().view(1, 1, -1)
        s = size.view(1, -1, 1) * torch.sin(freq * t + shift.view(1, -1, 1))
        return s[..., :lookback], s[..., lookback:]

    return draw(), draw()
