import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyStereo(nn.Module):
    """三个尺度的视差 (disparity at three scales)"""

    def __init__(self, c=8):
        super().__init__()
        self.stem = nn.Conv2d(2, c, 3, padding=1)
        self.down1 = nn.Conv2d(c, c, 3, stride=2, padding=1)
        self.down2 = nn.Conv2d(c, c, 3, stride=2, padding=1)
        self.heads = nn.ModuleList([nn.Conv2d(c, 1, 3, padding=1) for _ in range(3)])

    def forward(self, left, right):
        f0 = F.elu(self.stem(torch.cat([left, right], 1)))
        f1 = F.elu(self.down1(f0))
        f2 = F.elu(self.down2(f1))
        return [F.softplus(h(f)) for h, f in zip(self.heads, (f0, f1, f2))]
