import numpy as np
import torch
import torch.nn as nn

C_KMS = 299792.458


def interp(x, xp, fp):
    """linear interpolation of the template"""
    # the grid is uniform
    pos = (x - xp[0]) / (xp[1] - xp[0])
    j = pos.detach().floor().long().clamp(0, len(xp) - 2)
    return torch.lerp(fp[j], fp[j + 1], pos - j)


class SpectrumModel(nn.Module):
    def __init__(self, grid, template, wave, n_exposures):
        super().__init__()
        self.register_buffer('grid', grid)
        self.register_buffer('template', template)
        self.register_buffer('wave', wave)
        self.register_buffer('u', torch.linspace(-1, 1, len(wave), dtype=wave.dtype))
        self.velocity = nn.Parameter(torch.zeros(n_exposures, dtype=wave.dtype))
        self.continuum = nn.Parameter(torch.tensor([[1.0, 0.0]] * n_exposures, dtype=wave.dtype))

    def rest_wavelengths(self):
        return self.wave[None, :] / (1 + self.velocity[:, None] / C_KMS)

    def forward(self):
        continuum = self.continuum[:, :1] + self.continuum[:, 1:] * self.u
        return continuum * interp(self.rest_wavelengths(), self.grid, self.template)
