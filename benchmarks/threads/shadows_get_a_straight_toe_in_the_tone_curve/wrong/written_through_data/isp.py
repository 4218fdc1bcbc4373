import math

import torch
import torch.nn as nn


class WhiteBalance(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(1, 3, 1, 1))

    def forward(self, x):
        return x * self.gain


class ColorMatrix(nn.Module):
    def __init__(self):
        super().__init__()
        self.ccm = nn.Parameter(torch.eye(3) + 0.02 * torch.randn(3, 3))

    def forward(self, x):
        return torch.einsum('ij,njhw->nihw', self.ccm, x)


class ToneCurve(nn.Module):
    """Power law with a linear toe, like sRGB, but exponent and slope of the toe are learned."""

    def __init__(self, gamma=1.6, slope=6.0, knee=0.03):
        super().__init__()
        self.log_gamma = nn.Parameter(torch.tensor(math.log(gamma)))
        self.slope = nn.Parameter(torch.tensor(slope))
        self.knee = knee

    def forward(self, x):
        x = x.clamp(min=1e-4)
        out = x ** torch.exp(-self.log_gamma)
        # shadows: straight line, a power law would amplify the noise
        dark = x < self.knee
        out.data[dark] = self.slope * x[dark]
        return out


class ISP(nn.Module):
    def __init__(self):
        super().__init__()
        self.wb = WhiteBalance()
        self.color = ColorMatrix()
        self.tone = ToneCurve()

    def forward(self, raw):
        return self.tone(self.color(self.wb(raw)))
