import torch
import torch.nn.functional as F
from torch import nn


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.01))


class TinyUNet(nn.Module):
    def __init__(self, in_ch, classes, width=6):
        super().__init__()
        self.enc1, self.enc2 = block(in_ch, width), block(width, 2 * width)
        self.dec = block(3 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        s = self.enc1(x)
        d = self.enc2(F.max_pool2d(s, 2))
        d = F.interpolate(d, scale_factor=2, mode="nearest")
        return self.head(self.dec(torch.cat([s, d], 1)))
