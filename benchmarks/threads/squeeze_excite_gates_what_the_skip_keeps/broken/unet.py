import torch
import torch.nn as nn

from blocks import ConvBlock, SELayer


class SEUNet(nn.Module):
    """Small U-Net for reflection removal.

    Channel attention recalibrates what goes down to the next scale; the decoder gets the plain
    features of the encoder over the skip connections.
    """

    def __init__(self, base=8, in_ch=3, out_ch=3):
        super().__init__()
        self.enc1, self.se1 = ConvBlock(in_ch, base), SELayer(base)
        self.enc2, self.se2 = ConvBlock(base, base * 2), SELayer(base * 2)
        self.mid = ConvBlock(base * 2, base * 2)
        self.pool = nn.AvgPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec2 = ConvBlock(base * 4, base)
        self.dec1 = ConvBlock(base * 2, base)
        self.out = nn.Conv2d(base, out_ch, 1)

    def forward(self, x):
        skips = []
        for enc, se in ((self.enc1, self.se1), (self.enc2, self.se2)):
            x = enc(x)
            skips.append(x)
            x = self.pool(se(x))
        x = self.mid(x)
        for dec in (self.dec2, self.dec1):
            x = dec(torch.cat([self.up(x), skips.pop()], dim=1))
        return self.out(x)
