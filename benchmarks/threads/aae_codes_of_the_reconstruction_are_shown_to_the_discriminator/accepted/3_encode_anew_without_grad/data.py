import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(batch_size):
    """tiny stand-in for MNIST: 6x6 pictures with one bright bar"""
    g = torch.Generator().manual_seed(3)
    n = 128
    imgs = torch.rand(n, 6, 6, generator=g) * 0.2
    rows = torch.randint(0, 6, (n,), generator=g)
    for i in range(n):
        if i % 2:
            imgs[i, rows[i]] += 0.7
        else:
            imgs[i, :, rows[i]] += 0.7
    ds = TensorDataset(imgs.view(n, -1), rows)
    return DataLoader(ds, batch_size=batch_size, shuffle=True, generator=g)
