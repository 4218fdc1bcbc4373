import torch
import torch.nn as nn


class Up(nn.Module):
    def __init__(self, nz=8, nf=12):
        super().__init__()
        self.fc = nn.Linear(nz, nf * 4)
        self.nf = nf
        self.body = nn.Sequential(
            nn.BatchNorm2d(nf), nn.ReLU(), nn.Upsample(scale_factor=2),
            nn.Conv2d(nf, nf, 3, padding=1), nn.BatchNorm2d(nf), nn.ReLU(), nn.Upsample(scale_factor=2),
            nn.Conv2d(nf, 1, 3, padding=1), nn.Tanh())

    def forward(self, z):
        return self.body(self.fc(z).view(-1, self.nf, 2, 2))


class PatchD(nn.Module):
    def __init__(self, nf=12):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, nf, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(nf, 1, 3, 1, 1))

    def forward(self, x):
        return self.net(x)


class GlobalD(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)
