import numpy as np
import torch


def birds(n_class=6, per_class=20, dim=24, seed=7):
    """Stand-in for CUB: clusters in the plane, seen through a fixed random lifting."""
    rng = np.random.RandomState(seed)
    centers = rng.randn(n_class, 4) * 2.0
    lift = rng.randn(4, dim)
    y = np.repeat(np.arange(n_class), per_class)
    x = np.tanh((centers[y] + 0.5 * rng.randn(len(y), 4)) @ lift * 0.4) + 0.1 * rng.randn(len(y), dim)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)
