import torch
import torch.nn as nn


class InpaintGenerator(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=2, dilation=2), nn.ReLU(),
                                 nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, x):
        return (torch.tanh(self.net(x)) + 1) / 2


class Discriminator(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(1, c, 4, 2, 1), nn.LeakyReLU(0.2))
        self.conv2 = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1), nn.LeakyReLU(0.2))
        self.conv3 = nn.Conv2d(c, 1, 3, 1, 1)

    def forward(self, x):
        f1 = self.conv1(x)
        f2 = self.conv2(f1)
        f3 = self.conv3(f2)
        return torch.sigmoid(f3), [f1, f2, f3]
