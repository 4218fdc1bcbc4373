import torch


class Views:
    def __init__(self, batch, n=20, size=12):
        self.batch = batch
        self.images = torch.randn(n, 1, size, size)

    def example(self):
        return self.images[:2]

    def _augment(self, x):
        x = x.roll(int(torch.randint(0, 3, ())), 3)
        return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1)) + 0.2 * torch.randn_like(x)

    def pair(self):
        x = self.images[torch.randperm(len(self.images))[:self.batch]]
        return self._augment(x), self._augment(x)
