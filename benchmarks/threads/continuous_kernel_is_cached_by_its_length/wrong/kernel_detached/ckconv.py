"""Continuous kernel convolution (after CKConv, Romero et al.)."""
import functools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Sine(nn.Module):
    def __init__(self, omega):
        super().__init__()
        self.omega = omega

    def forward(self, x):
        return torch.sin(self.omega * x)


class KernelNet(nn.Module):
    """Positions in [-1, 1] to kernel values."""

    def __init__(self, n_in, n_out, hidden=12, omega=6.0):
        super().__init__()
        self.shape = (n_out, n_in)
        self.net = nn.Sequential(nn.Linear(1, hidden), Sine(omega), nn.Linear(hidden, hidden), Sine(1.0), nn.Linear(hidden, n_in * n_out))

    def forward(self, pos):
        return self.net(pos[:, None]).t().reshape(*self.shape, len(pos)) / math.sqrt(len(pos))


class CKConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.kernel_net = KernelNet(n_in, n_out)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def positions(self, length):
        return torch.linspace(-1.0, 1.0, length)

    @functools.lru_cache(maxsize=32)
    def kernel(self, length):
        """The sampled kernel of a sequence of this length."""
        return self.kernel_net(self.positions(length)).detach()

    def forward(self, x):
        length = x.shape[-1]
        return F.conv1d(F.pad(x, (length - 1, 0)), self.kernel(length), self.bias)
