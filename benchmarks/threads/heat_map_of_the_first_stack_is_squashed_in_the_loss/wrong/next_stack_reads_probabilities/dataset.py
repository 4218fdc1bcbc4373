import numpy as np
import torch
from torch.utils.data import Dataset


def gaussian2D(h, w, cy, cx, sigma):
    y, x = np.ogrid[:h, :w]
    return np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * sigma ** 2)).astype(np.float32)


class ToyBoxes(Dataset):
    """32x32 pictures with one or two boxes, class 0 is filled, class 1 is a frame; down ratio 4"""

    def __init__(self, n, num_classes, seed):
        rng = np.random.RandomState(seed)
        self.items = [self.make(rng, num_classes) for _ in range(n)]

    def make(self, rng, num_classes):
        img = 0.1 * rng.randn(1, 32, 32).astype(np.float32)
        hm = np.zeros((num_classes, 8, 8), np.float32)
        wh = np.zeros((2, 8, 8), np.float32)
        mask = np.zeros((1, 8, 8), np.float32)
        for _ in range(rng.randint(1, 3)):
            c = rng.randint(num_classes)
            w, h = rng.randint(6, 14, 2)
            x0, y0 = rng.randint(0, 32 - w), rng.randint(0, 32 - h)
            img[0, y0:y0 + h, x0:x0 + w] = 1.
            if c == 1:
                img[0, y0 + 2:y0 + h - 2, x0 + 2:x0 + w - 2] = 0.
            cx, cy = int((x0 + w / 2) / 4), int((y0 + h / 2) / 4)
            hm[c] = np.maximum(hm[c], gaussian2D(8, 8, cy, cx, 0.8))
            wh[:, cy, cx] = w / 4, h / 4
            mask[0, cy, cx] = 1.
        return {'input': img, 'hm': hm, 'wh': wh, 'reg_mask': mask}

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {k: torch.from_numpy(v) for k, v in self.items[i].items()}
