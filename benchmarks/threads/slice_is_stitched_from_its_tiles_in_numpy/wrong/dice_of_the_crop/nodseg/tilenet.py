import torch
from torch import nn


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.01))


class TileNet(nn.Module):
    """two-level U-Net; sees one tile at a time"""

    def __init__(self, width=8):
        super().__init__()
        self.enc1 = conv(1, width)
        self.enc2 = conv(width, 2 * width)
        self.mid = conv(2 * width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.dec = conv(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(nn.functional.max_pool2d(e1, 2))
        d = self.up(self.mid(e2))
        return self.out(self.dec(torch.cat([e1, d], 1)))
