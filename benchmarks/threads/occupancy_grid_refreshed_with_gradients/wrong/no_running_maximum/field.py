import torch
import torch.nn as nn
import torch.nn.functional as F


class Field(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.register_buffer('freq', 2.0 ** torch.arange(4) * 3.1416)
        self.sigma_net = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 9))
        self.color_net = nn.Sequential(nn.Linear(9, width), nn.ReLU(), nn.Linear(width, 1))

    def encode(self, t):
        a = t.unsqueeze(-1) * self.freq
        return torch.cat([a.sin(), a.cos()], -1)

    def density(self, t):
        h = self.sigma_net(self.encode(t))
        return F.softplus(h[..., 0]) * 3, h[..., 1:]

    def forward(self, t, ray):
        sigma, geo = self.density(t)
        color = torch.sigmoid(self.color_net(torch.cat([geo, ray.expand(*t.shape).unsqueeze(-1)], -1)))
        return sigma, color
