import torch


class GlintDataset(torch.utils.data.Dataset):
    """Smooth colour gradients, with a bright stripe reflected into them."""

    def __init__(self, n, size=16, seed=5):
        gen = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.linspace(0, 1, size), torch.linspace(0, 1, size), indexing="ij")
        self.items = []
        for _ in range(n):
            a, b, c = torch.rand(3, 3, generator=gen)
            clean = (a[:, None, None] * xx + b[:, None, None] * yy + c[:, None, None]) / 3
            at = torch.rand(1, generator=gen)
            glint = torch.exp(-((xx + yy) / 2 - at) ** 2 / 0.005)
            self.items.append(((clean + 0.5 * glint).clamp(0, 1), clean))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]
