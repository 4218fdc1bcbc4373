import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z, x, h):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, x))

    def forward(self, z):
        return self.net(z)


class Encoder(nn.Module):
    def __init__(self, z, x, h):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(x, h), nn.LeakyReLU(0.2), nn.Linear(h, z))

    def forward(self, x):
        return self.net(x)


class Discriminator(nn.Module):
    """scores pairs (x, z)"""

    def __init__(self, z, x, h, wass=False):
        super().__init__()
        self.wass = wass
        self.x_infer = nn.Sequential(nn.Linear(x, h), nn.LeakyReLU(0.2))
        self.z_infer = nn.Sequential(nn.Linear(z, h), nn.LeakyReLU(0.2))
        self.joint = nn.Sequential(nn.Linear(2 * h, h), nn.LeakyReLU(0.2), nn.Linear(h, 1))

    def forward(self, x, z):
        out = self.joint(torch.cat([self.x_infer(x), self.z_infer(z)], 1)).squeeze(1)
        return out if self.wass else torch.sigmoid(out)
