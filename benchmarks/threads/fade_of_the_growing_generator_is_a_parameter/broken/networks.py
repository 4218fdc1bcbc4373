import torch
import torch.nn.functional as F
from torch import nn


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.LeakyReLU(0.2))


class Growing(nn.Module):
    """Holds what generator and critic share: the level and the weight of the newest block."""

    def __init__(self):
        super().__init__()
        self.level = 0
        # in the state dict, so that a run can be resumed in the middle of a fade
        self.alpha = nn.Parameter(torch.ones(1))

    def grow(self):
        self.level += 1
        self.alpha.data.zero_()

    def fade(self, amount):
        self.alpha += amount
        self.alpha.data.clamp_(max=1.0)

    def blend(self, old, new):
        return (1 - self.alpha) * old + self.alpha * new


class Generator(Growing):
    def __init__(self, z_dim, width):
        super().__init__()
        self.fc = nn.Linear(z_dim, 2 * width * 4 * 4)
        self.block0 = conv(2 * width, width)
        self.rgb0 = nn.Conv2d(width, 1, 1)
        self.block1 = conv(width, width)
        self.rgb1 = nn.Conv2d(width, 1, 1)

    def forward(self, z):
        h = F.leaky_relu(self.fc(z), 0.2).view(len(z), -1, 4, 4)
        h = self.block0(F.interpolate(h, scale_factor=2))
        if self.level == 0:
            return torch.tanh(self.rgb0(h))
        up = F.interpolate(h, scale_factor=2)
        return torch.tanh(self.blend(self.rgb0(up), self.rgb1(self.block1(up))))


class Critic(Growing):
    def __init__(self, width):
        super().__init__()
        self.from1 = nn.Conv2d(1, width, 1)
        self.block1 = conv(width, width)
        self.from0 = nn.Conv2d(1, width, 1)
        self.block0 = conv(width, 2 * width)
        self.fc = nn.Linear(2 * width * 4 * 4, 1)

    def forward(self, x):
        if self.level == 0:
            h = F.leaky_relu(self.from0(x), 0.2)
        else:
            new = F.avg_pool2d(self.block1(F.leaky_relu(self.from1(x), 0.2)), 2)
            old = F.leaky_relu(self.from0(F.avg_pool2d(x, 2)), 0.2)
            h = self.blend(old, new)
        h = F.avg_pool2d(self.block0(h), 2)
        return self.fc(h.flatten(1)).squeeze(1)
