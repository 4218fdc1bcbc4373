import torch


class PairStream:
    """images of a colour and captions that name it"""

    def __init__(self, steps, batch, n=12):
        self.steps, self.batch, self.n = steps, batch, n
        self.proto = torch.randn(n, 4, 6)

    def __iter__(self):
        for _ in range(self.steps):
            c = torch.randperm(self.n)[:self.batch]
            img = self.proto[c] + 0.5 * torch.randn(self.batch, 4, 6)
            txt = torch.stack([c, c + self.n, torch.randint(0, 24, c.shape), c, torch.zeros_like(c)], 1)
            yield img, txt
