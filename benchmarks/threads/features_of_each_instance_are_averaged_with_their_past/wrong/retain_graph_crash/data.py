import torch


class IndexedViews:
    """(index, view 1, view 2): two noisy looks at the same point"""

    def __init__(self, n, size, batch_size, seed):
        self.g = torch.Generator().manual_seed(seed)
        centers = 1.5 * torch.randn(6, size, generator=self.g)
        self.x = centers[torch.arange(n) % 6] + torch.randn(n, size, generator=self.g)
        self.batch_size = batch_size

    def __len__(self):
        return len(self.x)

    def batches(self):
        return range(0, len(self.x), self.batch_size)

    def __iter__(self):
        order = torch.randperm(len(self.x), generator=self.g)
        for i in self.batches():
            idx = order[i:i + self.batch_size]
            x = self.x[idx]
            yield (idx, x + 0.3 * torch.randn(x.shape, generator=self.g),
                   x + 0.3 * torch.randn(x.shape, generator=self.g))
