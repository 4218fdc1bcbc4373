"""Ultrasound phantoms: speckle, a bright capsule and one or two dark nodules."""
import numpy as np
import torch


def phantom(size, rng):
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    tissue = 0.55 + 0.1 * np.sin(xx / 5 + rng.uniform(0, 6)) * np.cos(yy / 7 + rng.uniform(0, 6))
    mask = np.zeros((size, size), np.float32)
    for _ in range(rng.integers(1, 3)):
        cy, cx = rng.uniform(7, size - 7, 2)
        a, b = rng.uniform(2.5, 5.5, 2)
        mask[((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1] = 1
    img = tissue - 0.3 * mask
    img *= rng.gamma(12.0, 1 / 12.0, size=img.shape)
    return img.astype(np.float32), mask


class PhantomSet(torch.utils.data.Dataset):
    def __init__(self, n, size, seed):
        rng = np.random.default_rng(seed)
        self.items = [phantom(size, rng) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        img = (img - img.mean()) / img.std()
        return torch.from_numpy(img)[None], torch.from_numpy(mask)[None]
