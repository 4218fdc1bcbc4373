import numpy as np
import torch


class BlobDataset(torch.utils.data.Dataset):
    """Noisy images with one elliptic object each."""

    def __init__(self, n, size, offset=0):
        self.n, self.size, self.offset = n, size, offset

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(self.offset + i)
        s = self.size
        cy, cx = rng.uniform(0.3 * s, 0.7 * s, 2)
        ry, rx = rng.uniform(0.15 * s, 0.32 * s, 2)
        yy, xx = np.mgrid[:s, :s]
        mask = (((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1).astype(np.float32)
        image = 1.2 * mask + 0.4 * rng.randn(s, s).astype(np.float32)
        return {'images': torch.from_numpy(image[None].astype(np.float32)),
                'instances': torch.from_numpy(mask[None])}
