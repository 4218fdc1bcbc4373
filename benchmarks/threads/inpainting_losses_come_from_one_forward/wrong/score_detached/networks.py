import torch
from torch import nn
import torch.nn.functional as F


class CoarseGenerator(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(2, c, 3, padding=1)
        self.conv2 = nn.Conv2d(c, c, 3, padding=2, dilation=2)
        self.conv3 = nn.Conv2d(c, 1, 3, padding=1)

    def forward(self, x, mask):
        h = F.elu(self.conv1(torch.cat([x, mask], 1)))
        return torch.tanh(self.conv3(F.elu(self.conv2(h))))


class FineGenerator(CoarseGenerator):
    def forward(self, x, coarse, mask):
        return super().forward(coarse * mask + x * (1.0 - mask), mask)


class Generator(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.coarse_generator = CoarseGenerator(c)
        self.fine_generator = FineGenerator(c)

    def forward(self, x, mask):
        x_stage1 = self.coarse_generator(x, mask)
        return x_stage1, self.fine_generator(x, x_stage1, mask)


class Dis(nn.Module):
    def __init__(self, c, size=16):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv2d(1, c, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(c, c, 4, 2, 1), nn.LeakyReLU(0.2))
        self.linear = nn.Linear(c * (size // 4) ** 2, 1)

    def forward(self, x):
        return self.linear(self.convs(x).flatten(1))
