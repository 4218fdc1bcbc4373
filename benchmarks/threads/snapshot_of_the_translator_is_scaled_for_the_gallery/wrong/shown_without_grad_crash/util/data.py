import torch
from torch.utils.data import Dataset


class TilePairs(Dataset):
    """A: rasterised map tile, B: aerial tile, both scaled to [-1, 1]."""

    def __init__(self, n, size, seed=7):
        g = torch.Generator().manual_seed(seed)
        self.A, self.B = [], []
        for _ in range(n):
            tile = torch.full((3, size, size), 0.9)
            row, col = torch.randint(2, size - 4, (2,), generator=g).tolist()
            tile[:, row:row + 2] = torch.tensor([1.0, 0.8, 0.2])[:, None, None]
            tile[:, :, col:col + 3] = torch.tensor([0.5, 0.7, 1.0])[:, None, None]
            photo = tile.flip(0) * 0.6 + 0.1 * torch.rand(3, size, size, generator=g)
            self.A.append(tile * 2 - 1)
            self.B.append(photo.clamp(0, 1) * 2 - 1)

    def __len__(self):
        return len(self.A)

    def __getitem__(self, i):
        return {'A': self.A[i], 'B': self.B[i], 'path': 'tile_%03d.png' % i}
