import torch
from torch.utils.data import Dataset


class SquaresAndDiscs(Dataset):
    """Grey images with a square, a disc or a cross at a random place."""

    def __init__(self, n, size, seed):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.labels = torch.randint(0, 3, (n,), generator=g)
        centers = torch.randint(4, size - 4, (n, 2), generator=g)
        images = 0.3 * torch.randn(n, 1, size, size, generator=g)
        for i in range(n):
            dy, dx = (yy - centers[i, 0]).abs(), (xx - centers[i, 1]).abs()
            if self.labels[i] == 0:
                shape = (dy <= 3) & (dx <= 3)
            elif self.labels[i] == 1:
                shape = dy ** 2 + dx ** 2 <= 9
            else:
                shape = ((dy <= 3) & (dx == 0)) | ((dx <= 3) & (dy == 0))
            images[i, 0] += shape.float()
        self.images = images

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]
