import torch
import torch.nn as nn

from .layers import SpatialTransformer, VecInt


class Unet(nn.Module):
    """two levels are enough for 12 x 12"""

    def __init__(self, nf=8):
        super().__init__()
        self.down = nn.Conv2d(2, nf, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(nf, nf, 3, padding=1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.last = nn.Conv2d(nf + 2, nf, 3, padding=1)
        self.act = nn.LeakyReLU(0.2)

    def forward(self, x):
        y = self.act(self.mid(self.act(self.down(x))))
        return self.act(self.last(torch.cat([self.up(y), x], dim=1)))


class VxmDense(nn.Module):
    def __init__(self, inshape, int_steps=7, bidir=False):
        super().__init__()
        self.bidir = bidir
        self.unet = Unet()
        self.flow = nn.Conv2d(8, 2, 3, padding=1)
        nn.init.normal_(self.flow.weight, 0, 0.2)
        nn.init.zeros_(self.flow.bias)
        self.integrate = VecInt(inshape, int_steps) if int_steps > 0 else None
        self.transformer = SpatialTransformer(inshape)

    def forward(self, source, target):
        flow = self.flow(self.unet(torch.cat([source, target], dim=1)))
        pos, neg = flow, -flow
        if self.integrate is not None:
            pos = self.integrate(pos)
            neg = self.integrate(neg)
        return self.transformer(source, pos), self.transformer(target, neg), flow
