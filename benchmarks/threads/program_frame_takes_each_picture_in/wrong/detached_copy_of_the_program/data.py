"""Two little worlds: 16x16 textures for the victim, 6x6 digits-to-be for the new task."""
import torch


def textures(n, generator):
    label = torch.randint(0, 6, (n,), generator=generator)
    grid = torch.arange(16.)
    yy, xx = grid[:, None], grid[None, :]
    waves = []
    for k in range(6):
        a = torch.tensor(k * 3.14159 / 6)
        waves.append(torch.sin(1.1 * (torch.cos(a) * xx + torch.sin(a) * yy)))
    x = torch.stack(waves)[label] + 0.7 * torch.randn(n, 16, 16, generator=generator)
    return x.unsqueeze(1), label


def counting_squares(n, generator):
    """class = number of bright squares (1, 2 or 3) in a 6x6 picture"""
    label = torch.randint(0, 3, (n,), generator=generator)
    x = torch.zeros(n, 6, 6)
    corners = [(0, 0), (0, 4), (4, 0), (4, 4), (2, 2)]
    for i in range(n):
        for c in torch.randperm(len(corners), generator=generator)[:int(label[i]) + 1]:
            r, s = corners[int(c)]
            x[i, r:r + 2, s:s + 2] = 1.0
    return (2 * x - 0.5 + 0.05 * torch.randn(n, 6, 6, generator=generator)).unsqueeze(1), label
