import torch
import torch.nn as nn
import torch.nn.functional as F

from psf import gaussian_psf


class Microscope(nn.Module):
    """image = object * psf(sx, sy); widths are kept as logarithms"""

    def __init__(self, sx, sy, radius=5):
        super().__init__()
        self.radius = radius
        self.log_sx = nn.Parameter(torch.tensor(float(sx)).log())
        self.log_sy = nn.Parameter(torch.tensor(float(sy)).log())

    def sigmas(self):
        return self.log_sx.exp().item(), self.log_sy.exp().item()

    def forward(self, obj):
        kernel = gaussian_psf(self.radius, self.log_sx.exp(), self.log_sy.exp())
        return F.conv2d(obj, kernel[None, None], padding=self.radius)


def render_beads(n, size):
    img = torch.zeros(1, 1, size, size)
    pos = torch.randint(4, size - 4, (n, 2))
    for r, c in pos.tolist():
        img[0, 0, r, c] += 1.0 + torch.rand(1).item()
    return img
