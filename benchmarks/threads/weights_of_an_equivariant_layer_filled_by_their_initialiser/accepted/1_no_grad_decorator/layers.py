import torch
from torch import nn
import torch.nn.functional as F

from init import generalized_he_init


class RingBasis(nn.Module):
    """Filters that rotations by 90 degrees and flips leave alone: one per distance from the centre."""

    def __init__(self, size=5):
        super().__init__()
        c = torch.arange(size) - size // 2
        radius = (c[:, None] ** 2 + c[None, :] ** 2)
        self.radii = sorted(set(radius.flatten().tolist()))
        self.register_buffer("filters", torch.stack([(radius == r).float() for r in self.radii]))

    @property
    def num_rings(self):
        return len(self.radii)

    def taps_per_ring(self):
        return self.filters.sum(dim=(1, 2)).tolist()

    def forward(self, weights):
        return torch.einsum("oir,rhw->oihw", weights, self.filters)


class R2Conv(nn.Module):
    def __init__(self, in_channels, out_channels, size=5, initialize=True):
        super().__init__()
        self.basisexpansion = RingBasis(size)
        self.weights = nn.Parameter(torch.zeros(out_channels, in_channels, self.basisexpansion.num_rings))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.padding = size // 2
        if initialize:
            generalized_he_init(self.weights, self.basisexpansion)

    def forward(self, x):
        return F.conv2d(x, self.basisexpansion(self.weights), self.bias, padding=self.padding)


class SteerableCNN(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            R2Conv(1, 6, 3), nn.ReLU(), nn.AvgPool2d(2),
            R2Conv(6, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.classify = nn.Linear(8, classes)

    def forward(self, x):
        return self.classify(self.features(x))
