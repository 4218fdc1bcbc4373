# toy stand-in for CIFAR: 4 main classes, each made of 3 hidden sub-classes
import numpy as np
import torch


def make_split(n, seed, n_class=4, n_sub=3, dim=16):
    proto = np.random.RandomState(0).randn(n_class, n_sub, dim) * 1.2
    rng = np.random.RandomState(seed)
    y = rng.randint(n_class, size=n)
    s = rng.randint(n_sub, size=n)
    x = proto[y, s] + rng.randn(n, dim) * 0.9
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def batches(x, y, size, epoch):
    g = torch.Generator().manual_seed(100 + epoch)
    perm = torch.randperm(len(x), generator=g)
    for i in range(0, len(x) - size + 1, size):
        idx = perm[i:i + size]
        yield x[idx], y[idx]
