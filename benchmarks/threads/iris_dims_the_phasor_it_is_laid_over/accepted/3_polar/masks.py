import torch
import torch.nn as nn


class PhaseMask(nn.Module):
    """spatial light modulator behind an iris with a soft edge"""

    def __init__(self, n, pitch, softness=0.06):
        super().__init__()
        axis = torch.linspace(-1, 1, n)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        self.register_buffer("rho", torch.sqrt(xx ** 2 + yy ** 2))
        self.softness = softness
        self.pitch = pitch
        self.phase = nn.Parameter(0.1 * torch.randn(n, n))
        self.radius = nn.Parameter(torch.tensor(0.7))

    @property
    def iris(self):
        return torch.sigmoid((self.radius - self.rho) / self.softness)

    def transmit(self, incident):
        modulation = torch.polar(self.iris, self.phase)
        return incident * modulation
