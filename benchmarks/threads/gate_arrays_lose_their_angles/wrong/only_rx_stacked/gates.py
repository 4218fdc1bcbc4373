"""Arrays of quantum gates; angles are in half turns."""
import math

import torch


class Rx:
    def __init__(self, phase):
        self.phase = phase

    @property
    def array(self):
        half = math.pi * self.phase
        sin, cos = torch.sin(half), torch.cos(half)
        return torch.stack([torch.stack([cos + 0j, -1j * sin]), torch.stack([-1j * sin, cos + 0j])])


class Ry:
    def __init__(self, phase):
        self.phase = phase

    @property
    def array(self):
        half = math.pi * self.phase
        sin, cos = torch.sin(half), torch.cos(half)
        return torch.as_tensor([[cos, -sin], [sin, cos]]).to(torch.complex64)


class CZ:
    array = torch.diag(torch.tensor([1, 1, 1, -1], dtype=torch.complex64))
