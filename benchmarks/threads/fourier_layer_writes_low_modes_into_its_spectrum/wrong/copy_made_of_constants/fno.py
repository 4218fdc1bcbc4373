import torch
import torch.nn as nn
import torch.nn.functional as F

from spectral import SpectralResidual1d


class FNO1d(nn.Module):
    def __init__(self, modes, width, layers=3):
        super().__init__()
        self.lift = nn.Conv1d(2, width, 1)
        self.spectral = nn.ModuleList(SpectralResidual1d(width, modes) for _ in range(layers))
        self.local = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.project = nn.Sequential(nn.Conv1d(width, 16, 1), nn.GELU(), nn.Conv1d(16, 1, 1))

    def forward(self, u):
        """u: (batch, grid) -> (batch, grid)"""
        grid = torch.linspace(0, 1, u.size(-1)).expand(len(u), -1)
        x = self.lift(torch.stack([u, grid], 1))
        for i, (k, w) in enumerate(zip(self.spectral, self.local)):
            x = k(x) + w(x)
            if i < len(self.spectral) - 1:
                x = F.gelu(x)
        return self.project(x).squeeze(1)


class LpLoss:
    """relative L2 error per sample"""

    def __call__(self, a, b):
        return ((a - b).norm(dim=-1) / b.norm(dim=-1)).mean()
