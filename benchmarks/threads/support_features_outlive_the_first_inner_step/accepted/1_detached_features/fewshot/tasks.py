import numpy as np
import torch


class SineMixTasks:
    """Every class is a mixture of two frequencies; a task draws new classes."""

    def __init__(self, ways, shots, queries, length=32, seed=0):
        self.ways, self.shots, self.queries, self.length = ways, shots, queries, length
        self.rng = np.random.RandomState(seed)

    def _traces(self, f, n):
        t = np.arange(self.length) / self.length
        phase = self.rng.uniform(0, 2 * np.pi, size=(n, 2, 1))
        x = np.sin(2 * np.pi * f[:, None] * t + phase).sum(1)
        return x + 0.1 * self.rng.randn(n, self.length)

    def sample(self):
        xs, ys, xq, yq = [], [], [], []
        for c in range(self.ways):
            f = self.rng.uniform(1, 8, size=2)
            x = self._traces(f, self.shots + self.queries)
            xs.append(x[:self.shots])
            xq.append(x[self.shots:])
            ys += [c] * self.shots
            yq += [c] * self.queries
        as_x = lambda a: torch.tensor(np.concatenate(a), dtype=torch.float32).unsqueeze(1)
        return as_x(xs), torch.tensor(ys), as_x(xq), torch.tensor(yq)
