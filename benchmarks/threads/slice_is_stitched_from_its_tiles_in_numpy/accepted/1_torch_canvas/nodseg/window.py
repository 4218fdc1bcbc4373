import numpy as np
import torch


class SlidingWindow:
    """Tiles a slice with overlap and blends the probabilities with a Gaussian importance map."""

    def __init__(self, tile, stride, sigma=0.25):
        self.tile, self.stride = tile, stride
        ax = (np.arange(tile) - (tile - 1) / 2) / (sigma * tile)
        g = np.exp(-0.5 * ax ** 2)
        self.importance = torch.from_numpy(np.maximum(np.outer(g, g), 1e-3).astype(np.float32))

    def starts(self, length):
        s = list(range(0, length - self.tile + 1, self.stride))
        if s[-1] != length - self.tile:
            s.append(length - self.tile)
        return s

    def __call__(self, net, image):
        B, _, H, W = image.shape
        t = self.tile
        canvas = torch.zeros(B, 1, H, W)
        norm = torch.zeros(H, W)
        for r in self.starts(H):
            for c in self.starts(W):
                prob = torch.sigmoid(net(image[:, :, r:r + t, c:c + t]))
                canvas[:, :, r:r + t, c:c + t] += prob * self.importance
                norm[r:r + t, c:c + t] += self.importance
        return canvas / norm
