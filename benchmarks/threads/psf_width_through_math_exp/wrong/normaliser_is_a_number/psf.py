"""Kernels. Ported from our old numpy scripts."""
import math

import torch


def gaussian_1d(radius, sigma):
    """normalised samples of a gaussian at -radius..radius"""
    i = torch.arange(-radius, radius + 1, dtype=torch.float32)
    g = torch.exp(-(i ** 2) / (2 * sigma ** 2))
    return g / g.sum().item()


def gaussian_psf(radius, sx, sy):
    return torch.outer(gaussian_1d(radius, sy), gaussian_1d(radius, sx))


def airy_psf(radius, na, wavelength):
    raise NotImplementedError("TODO: bessel functions")
