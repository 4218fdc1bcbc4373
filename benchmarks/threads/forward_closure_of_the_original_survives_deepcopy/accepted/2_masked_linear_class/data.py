import torch


def blobs(n, classes=4, dim=10):
    centers = torch.randn(classes, dim)
    y = torch.randint(0, classes, (n,))
    return centers[y] + 0.8 * torch.randn(n, dim), y
