import math

import torch
from torch.utils.data import Dataset


class Tones(Dataset):
    """chirps and decaying tones, 64 samples each"""

    def __init__(self, n, length=64, seed=0):
        g = torch.Generator().manual_seed(seed)
        t = torch.linspace(0, 1, length)
        f0 = 2 + 6 * torch.rand(n, 1, generator=g)
        sweep = 4 * torch.rand(n, 1, generator=g)
        decay = 3 * torch.rand(n, 1, generator=g)
        self.x = torch.sin(2 * math.pi * (f0 * t + sweep * t ** 2)) * torch.exp(-decay * t)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i:i + 1]
