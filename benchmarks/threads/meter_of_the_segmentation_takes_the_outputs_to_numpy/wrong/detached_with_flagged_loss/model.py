import torch
import torch.nn as nn
import torch.nn.functional as F


def double_conv(in_channels, out_channels):
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(out_channels, out_channels, 3, padding=1),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, n_classes=1):
        super().__init__()
        self.down1 = double_conv(3, 8)
        self.down2 = double_conv(8, 16)
        self.pool = nn.MaxPool2d(2)
        self.up1 = double_conv(16 + 8, 8)
        self.last = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        conv1 = self.down1(x)
        x = self.down2(self.pool(conv1))
        x = F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=True)
        x = torch.cat([x, conv1], dim=1)
        return self.last(self.up1(x))
