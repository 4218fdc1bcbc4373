import math

import torch
from torch import nn


class PlantField(nn.Module):
    """dy/dt = -a * y + net(y, t); the decay is learned too (log scale)."""

    def __init__(self, dim, width, period=6.0):
        super().__init__()
        self.log_decay = nn.Parameter(torch.full((dim,), math.log(0.1)))
        self.net = nn.Sequential(
            nn.Linear(dim + 2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, dim),
        )
        self.omega = 2 * math.pi / period

    def forward(self, t, y):
        phase = self.omega * t
        clock = torch.stack([torch.sin(phase), torch.cos(phase)]).expand(y.size(0), 2)
        return self.net(torch.cat([y, clock], dim=1)) - self.log_decay.exp() * y
