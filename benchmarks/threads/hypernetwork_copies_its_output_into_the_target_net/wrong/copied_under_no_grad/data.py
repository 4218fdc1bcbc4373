import torch


class SineTasks(object):
    """y = a sin(x + p), the descriptor of a task is (a, p)."""
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def draw(self, n=16):
        a = 0.5 + torch.rand(1, generator=self.g)
        p = 3.0 * torch.rand(1, generator=self.g)
        x = 6 * torch.rand(n, 1, generator=self.g) - 3
        return torch.cat([a, p]), x, a * torch.sin(x + p)
