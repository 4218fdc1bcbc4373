import torch
import torch.nn as nn


class DistMaps(nn.Module):
    """Turns click coordinates into gaussian-like maps, positive and negative."""

    def __init__(self, radius=2.0):
        super().__init__()
        self.radius = radius

    def forward(self, x, points):
        b, _, h, w = x.shape
        yy = torch.arange(h, dtype=x.dtype).view(1, h, 1)
        xx = torch.arange(w, dtype=x.dtype).view(1, 1, w)
        maps = torch.zeros(b, 2, h, w)
        for pts in points:                      # every click: (b, 3) = y, x, is_positive
            d = (yy - pts[:, 0].view(b, 1, 1)) ** 2 + (xx - pts[:, 1].view(b, 1, 1)) ** 2
            blob = torch.exp(-d / (2 * self.radius ** 2))
            pos = pts[:, 2].view(b, 1, 1)
            maps = torch.maximum(maps, torch.stack([blob * pos, blob * (1 - pos)], 1))
        return maps


class ISModel(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.dist_maps = DistMaps()
        # image + previous mask + two click maps
        self.backbone = nn.Sequential(
            nn.Conv2d(4, width, 3, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=1, dilation=1), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=2, dilation=2), nn.ReLU(inplace=True),
        )
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, image, prev_mask, points):
        clicks = self.dist_maps(image, points)
        x = torch.cat((image, prev_mask, clicks), dim=1)
        return {'instances': self.head(self.backbone(x))}
