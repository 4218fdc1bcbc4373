"""Boxes on synthetic images: one bright rectangle per image."""
import torch


def make_batch(generator, size=4, side=64):
    images = 0.1 * torch.randn(size, 1, side, side, generator=generator)
    boxes = torch.zeros(size, 4)
    for i in range(size):
        x0, y0 = torch.randint(0, side // 2, (2,), generator=generator).tolist()
        w, h = torch.randint(side // 4, side // 2, (2,), generator=generator).tolist()
        images[i, 0, y0:y0 + h, x0:x0 + w] += 1.0
        boxes[i] = torch.tensor([x0, y0, x0 + w, y0 + h], dtype=torch.float32)
    return images, boxes


def points_of(shape, stride):
    h, w = shape
    ys = (torch.arange(h, dtype=torch.float32) + 0.5) * stride
    xs = (torch.arange(w, dtype=torch.float32) + 0.5) * stride
    yy, xx = torch.meshgrid(ys, xs, indexing="ij")
    return torch.stack([xx.reshape(-1), yy.reshape(-1)], dim=1)
