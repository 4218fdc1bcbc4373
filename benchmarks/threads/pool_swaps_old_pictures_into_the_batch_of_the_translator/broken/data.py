import torch


class PairedSketches(torch.utils.data.Dataset):
    """small stand-in: A is the outline of a square, B the filled square in two colours"""

    def __init__(self, n, size=8):
        g = torch.Generator().manual_seed(4)
        self.A = -torch.ones(n, 1, size, size)
        self.B = -torch.ones(n, 3, size, size)
        for i in range(n):
            y, x = torch.randint(0, size - 4, (2,), generator=g).tolist()
            self.A[i, :, y:y + 4, x:x + 4] = 1
            self.A[i, :, y + 1:y + 3, x + 1:x + 3] = -1
            colour = torch.rand(3, 1, 1, generator=g) * 1.6 - 0.8
            self.B[i, :, y:y + 4, x:x + 4] = colour

    def __len__(self):
        return len(self.A)

    def __getitem__(self, i):
        return self.A[i], self.B[i]
