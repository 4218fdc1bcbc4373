import numpy as np
import torch


class Phrases:
    """token sequences; the class is given by which of three markers comes first"""

    def __init__(self, n, vocab=20, length=10, seed=0):
        rng = np.random.default_rng(seed)
        self.x = rng.integers(3, vocab, (n, length))
        self.y = rng.integers(0, 3, n)
        for row, c in zip(self.x, self.y):
            i, j = sorted(rng.choice(length, 2, replace=False))
            row[i], row[j] = c, rng.integers(0, 3)
        self.rng = rng

    def batches(self, size):
        order = self.rng.permutation(len(self.x))
        for s in range(0, len(order), size):
            idx = order[s:s + size]
            yield torch.from_numpy(self.x[idx]), torch.from_numpy(self.y[idx])

    def all(self):
        return torch.from_numpy(self.x), torch.from_numpy(self.y)
