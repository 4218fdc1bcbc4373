import torch


class GlyphSampler:
    """Bars and squares of random place and brightness."""

    def __init__(self, size, seed):
        self.size = size
        self.gen = torch.Generator().manual_seed(seed)

    def _int(self, low, high):
        return int(torch.randint(low, high, (1,), generator=self.gen))

    def batch(self, n):
        s = self.size
        x = -torch.ones(n, 1, s, s)
        for i in range(n):
            top, left = self._int(1, s // 2), self._int(1, s // 2)
            h, w = (s // 2, 3) if self._int(0, 2) else (5, 5)
            x[i, 0, top:top + h, left:left + w] = 0.4 + 0.6 * torch.rand(1, generator=self.gen)
        return x
