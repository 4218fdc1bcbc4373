"""Sensor readings of a water plant (synthetic), cut into windows."""
import numpy as np
import torch


def sensors(n=420, channels=4, seed=7):
    rng = np.random.RandomState(seed)
    t = np.arange(n)
    cols = [np.sin(2 * np.pi * t / (18 + 7 * c) + c) for c in range(channels)]
    x = np.stack(cols, axis=1) + 0.05 * rng.randn(n, channels)
    x[300:312, 1] += 1.5          # an attack
    x[365:372, 3] -= 1.2          # and another one
    lo, hi = x.min(0), x.max(0)
    return ((x - lo) / (hi - lo)).astype(np.float32)


def windows(x, size):
    w = np.stack([x[i:i + size].reshape(-1) for i in range(len(x) - size + 1)])
    return torch.from_numpy(w)


def normal_and_attacked(size):
    x = sensors()
    return windows(x[:260], size), windows(x[260:], size)
