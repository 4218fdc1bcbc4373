import math

import torch
import torch.nn.functional as F
from torch import nn


def inverse_softplus(v):
    return math.log(math.expm1(v))


class Gripper(nn.Module):
    """m a = u - c v - k x.  Physical values are positive, hence the softplus."""

    def __init__(self, mass, damping, stiffness):
        super().__init__()
        self.raw_mass = nn.Parameter(torch.tensor(inverse_softplus(mass)))
        self.raw_damping = nn.Parameter(torch.tensor(inverse_softplus(damping)))
        self.raw_stiffness = nn.Parameter(torch.tensor(inverse_softplus(stiffness)))

    @property
    def mass(self):
        return F.softplus(self.raw_mass)

    @property
    def damping(self):
        return F.softplus(self.raw_damping)

    @property
    def stiffness(self):
        return F.softplus(self.raw_stiffness)

    def freeze(self, *names):
        for name in names:
            getattr(self, name).requires_grad_(False)

    def acceleration(self, x, v, u, hooked):
        force = u - self.damping * v
        if hooked:
            force = force - self.stiffness * x
        return force / self.mass

    def describe(self):
        return " ".join(f"{n}={getattr(self, n).item():.5f}" for n in ("mass", "damping", "stiffness"))
