"""Kernels. Ported from our old numpy scripts."""
import math

import torch


def gaussian_1d(radius, sigma):
    """normalised samples of a gaussian at -radius..radius"""
    g = torch.tensor([math.exp(-(i ** 2) / (2 * sigma ** 2)) for i in range(-radius, radius + 1)], requires_grad=True)
    return g / g.sum()


def gaussian_psf(radius, sx, sy):
    return torch.outer(gaussian_1d(radius, sy), gaussian_1d(radius, sx))


def airy_psf(radius, na, wavelength):
    raise NotImplementedError("TODO: bessel functions")
