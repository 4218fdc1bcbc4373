import torch


def blobs_on_grid(n, side=8):
    """n images of one gaussian blob each"""
    ax = torch.arange(side).float()
    cx, cy = torch.rand(2, n, 1, 1) * (side - 1)
    s = 0.8 + torch.rand(n, 1, 1)
    d = (ax.view(1, 1, -1) - cx) ** 2 + (ax.view(1, -1, 1) - cy) ** 2
    return torch.exp(-d / (2 * s ** 2)).unsqueeze(1)
