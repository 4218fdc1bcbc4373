import torch
from torch import nn


def true_field(t, y):
    x, v = y[..., :1], y[..., 1:]
    return torch.cat([v, -2.0 * x - 0.15 * v * v.abs()], -1)


class Hybrid(nn.Module):
    """known spring with unknown constants + a small net for what the physics does not explain"""

    def __init__(self, hidden):
        super().__init__()
        self.omega2 = nn.Parameter(torch.tensor(1.0))
        self.damping = nn.Parameter(torch.tensor(0.0))
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        x, v = y[..., :1], y[..., 1:]
        acc = -self.omega2 * x - self.damping * v + self.net(y)
        return torch.cat([v, acc], -1)
