import torch
from torch.utils.data import DataLoader, TensorDataset


def get_loader(batch_size, n=240, dim=16, classes=5):
    center = torch.randn(classes, dim)

    def make(m):
        y = torch.randint(0, classes, (m,))
        return TensorDataset(center[y] + torch.randn(m, dim), y)

    g = torch.Generator().manual_seed(0)
    return (DataLoader(make(n), batch_size=batch_size, shuffle=True, generator=g),
            DataLoader(make(n // 2), batch_size=batch_size))
