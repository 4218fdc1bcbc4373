import torch
from torch.utils.data import DataLoader, TensorDataset


def strokes(n, gen):
    """14x14 pictures of five strokes: bar, beam, cross, slash, box"""
    x = 0.25 * torch.randn(n, 1, 14, 14, generator=gen)
    y = torch.randint(0, 5, (n,), generator=gen)
    for i in range(n):
        r, c = torch.randint(3, 8, (2,), generator=gen).tolist()
        k = int(y[i])
        if k in (0, 2):
            x[i, 0, r - 2:r + 5, c + 1] += 1.
        if k in (1, 2):
            x[i, 0, r + 1, c - 2:c + 5] += 1.
        if k == 3:
            for j in range(6):
                x[i, 0, r - 2 + j, c - 2 + j] += 1.
        if k == 4:
            x[i, 0, r - 1:r + 4, c - 1] += 1.
            x[i, 0, r - 1:r + 4, c + 3] += 1.
            x[i, 0, r - 1, c - 1:c + 4] += 1.
            x[i, 0, r + 3, c - 1:c + 4] += 1.
    return x, y


def make_loaders(batch_size, seed):
    gen = torch.Generator().manual_seed(seed)
    train = TensorDataset(*strokes(480, gen))
    test = TensorDataset(*strokes(200, gen))
    order = torch.Generator().manual_seed(seed + 1)
    return (DataLoader(train, batch_size, shuffle=True, generator=order), DataLoader(test, 100))
