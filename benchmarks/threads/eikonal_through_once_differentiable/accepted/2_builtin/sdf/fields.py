import torch
from torch import nn

from .ops import SharpSoftplus


class SDFNet(nn.Module):
    def __init__(self, hidden, n_feat):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), SharpSoftplus(), nn.Linear(hidden, hidden), SharpSoftplus(),
                                 nn.Linear(hidden, 1 + n_feat))

    def forward(self, x):
        out = self.net(x)
        return out[:, :1] + x.norm(dim=1, keepdim=True) - 0.6, out[:, 1:]

    def gradient(self, x):
        x.requires_grad_(True)
        sdf, feat = self(x)
        normal = torch.autograd.grad(sdf, x, torch.ones_like(sdf), create_graph=True)[0]
        return sdf, feat, normal


class ColorNet(nn.Module):
    def __init__(self, n_feat):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3 + 3 + n_feat, 24), nn.ReLU(), nn.Linear(24, 3), nn.Sigmoid())

    def forward(self, x, normal, feat):
        return self.net(torch.cat([x, normal, feat], 1))
