import os
import tempfile

import numpy as np


def to_display(images, limit):
    """[-1, 1] float tensors to [0, 1], at most `limit` of them, on the CPU."""
    images = images.detach().cpu()[:limit]
    return ((images + 1) / 2).clamp(0, 1)


class Gallery:
    """Keeps rows of (input | output | target) until the end of the run."""

    def __init__(self, columns):
        self.columns = columns
        self.rows = []
        self.folder = tempfile.mkdtemp(prefix='gallery_')

    def add(self, step, visuals):
        tiles = {name: to_display(images, self.columns).numpy() for name, images in visuals.items()}
        strip = np.concatenate([np.concatenate(list(t), axis=-1) for t in tiles.values()], axis=-2)
        self.rows.append((step, (strip * 255).astype(np.uint8)))

    def save(self):
        for step, strip in self.rows:
            np.save(os.path.join(self.folder, 'iter_%05d.npy' % step), strip.transpose(1, 2, 0))

    def summary(self):
        return [(step, strip.mean() / 255) for step, strip in self.rows]
