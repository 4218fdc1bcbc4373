import numpy as np
import torch


class RingOfGaussians:
    """Eight modes on a circle, the usual toy for mode collapse."""

    def __init__(self, modes=8, radius=2.0, std=0.05, seed=1):
        angles = np.arange(modes) * 2 * np.pi / modes
        self.centers = np.stack([radius * np.cos(angles), radius * np.sin(angles)], 1)
        self.std = std
        self.rng = np.random.RandomState(seed)

    def batch(self, n):
        which = self.rng.randint(len(self.centers), size=n)
        points = self.centers[which] + self.std * self.rng.randn(n, 2)
        return torch.from_numpy(points).float()
