import torch
import torch.nn.functional as F


class Pairs:
    """Smooth random colour images and their halved versions, all in memory."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        coarse = torch.rand(n, 3, 5, 5, generator=g)
        self.hr = F.interpolate(coarse, size=16, mode="bicubic", align_corners=False).clamp(0, 1)
        self.lr = F.avg_pool2d(self.hr, 2)

    def __len__(self):
        return len(self.hr)

    def batches(self, bs):
        for i in range(0, len(self), bs):
            yield self.lr[i:i + bs], self.hr[i:i + bs]
