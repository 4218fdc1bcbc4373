import math

import torch


def transfer_function(n, wavelength, pitch, distance):
    f = torch.fft.fftfreq(n, d=pitch)
    fy, fx = torch.meshgrid(f, f, indexing="ij")
    arg = 1.0 - (wavelength * fx) ** 2 - (wavelength * fy) ** 2
    kz = 2 * math.pi / wavelength * torch.sqrt(arg.clamp(min=0))
    return torch.exp(1j * (kz - kz[0, 0]) * distance)


def angular_spectrum(field, wavelength, pitch, distance):
    H = transfer_function(field.shape[-1], wavelength, pitch, distance)
    return torch.fft.ifft2(torch.fft.fft2(field) * H)
