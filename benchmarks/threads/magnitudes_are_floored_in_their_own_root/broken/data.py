import math

import torch
from torch.utils.data import Dataset


class NoisySpeech(Dataset):
    """Voiced bursts (a few harmonics) with pauses, in white noise."""

    def __init__(self, n, length=1024, sr=8000, snr=0.15, seed=0):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(length) / sr
        self.clean = torch.zeros(n, length)
        for i in range(n):
            f0 = 100 + 150 * torch.rand(1, generator=g)
            for k in range(1, 5):
                amp = torch.rand(1, generator=g) / k
                self.clean[i] += amp * torch.sin(2 * math.pi * k * f0 * t)
            start = int(torch.randint(0, length // 2, (1,), generator=g))
            self.clean[i, :start] = 0
            self.clean[i, start + length // 3:] = 0
        self.noisy = self.clean + snr * torch.randn(n, length, generator=g)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.noisy[i], self.clean[i]
