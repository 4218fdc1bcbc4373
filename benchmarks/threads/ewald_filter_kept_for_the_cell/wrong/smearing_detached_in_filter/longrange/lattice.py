import itertools
import math

import torch


def reciprocal_vectors(cell, nmax):
    n = [v for v in itertools.product(range(-nmax, nmax + 1), repeat=3) if any(v)]
    return 2 * math.pi * torch.tensor(n, dtype=cell.dtype) @ torch.linalg.inv(cell).t()
