#!/usr/bin/env python
"""Design of a phase mask with a soft iris: the light on the sensor shall form two spots.
Mask heights and the radius of the iris are optimised together."""
import torch

from masks import PhaseMask
from propagation import angular_spectrum
from target import two_spots

WAVELENGTH = 640e-9
PITCH = 8e-6
N = 32
DISTANCE = 12e-3
STEPS = 40


def simulate(mask):
    field = mask.transmit(torch.ones(N, N, dtype=torch.complex64))
    field = angular_spectrum(field, WAVELENGTH, PITCH, DISTANCE)
    return field.abs() ** 2


def main():
    torch.manual_seed(1)
    mask = PhaseMask(N, PITCH)
    target = two_spots(N)
    optimizer = torch.optim.Adam([
        {"params": [mask.phase], "lr": 0.1},
        {"params": [mask.radius], "lr": 0.01},
    ])
    for i in range(STEPS):
        optimizer.zero_grad()
        intensity = simulate(mask)
        image = intensity / intensity.sum()
        loss = ((image - target) ** 2).sum() * 1e2
        loss.backward()
        optimizer.step()
        if i % 8 == 7:
            print("iter %02d loss %.6f radius %.6f" % (i + 1, loss.item(), mask.radius.item()))


if __name__ == "__main__":
    main()
