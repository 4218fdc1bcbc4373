import torch


def two_spots(n, width=1.5):
    axis = torch.arange(n, dtype=torch.float32)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    image = torch.zeros(n, n)
    for cy, cx in ((n // 2, n // 3), (n // 2, 2 * n // 3)):
        image = image + torch.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * width ** 2))
    return image / image.sum()
