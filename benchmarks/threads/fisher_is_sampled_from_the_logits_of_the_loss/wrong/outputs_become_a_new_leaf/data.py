import numpy as np
import torch


def two_spirals(n=480, classes=3, seed=3):
    """n points on `classes` noisy spiral arms."""
    rng = np.random.RandomState(seed)
    t = np.linspace(0.2, 1.0, n // classes)
    xs, ys = [], []
    for c in range(classes):
        angle = 3.5 * t + 2 * np.pi * c / classes + 0.15 * rng.randn(len(t))
        xs.append(np.stack([t * np.sin(angle), t * np.cos(angle)], 1))
        ys.append(np.full(len(t), c))
    order = rng.permutation(len(t) * classes)
    x = np.concatenate(xs)[order].astype('float32')
    y = np.concatenate(ys)[order].astype('int64')
    return torch.from_numpy(x), torch.from_numpy(y)


def loader(x, y, bs):
    for i in range(0, len(x), bs):
        yield x[i:i + bs], y[i:i + bs]
