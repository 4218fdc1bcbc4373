from collections import namedtuple

import torch
from torch.autograd import grad

CMPState = namedtuple("CMPState", ["loss", "eq_defect"])


class BarEnergy:
    def __init__(self, stiffness, load, clamp):
        self.stiffness, self.load, self.clamp = stiffness, load, clamp

    def closure(self, displacement, position):
        strain = grad(displacement, position, torch.ones_like(displacement), create_graph=True)[0]
        density = 0.5 * self.stiffness * strain.pow(2) - self.load * displacement
        loss = torch.trapezoid(density.squeeze(1), position.detach().squeeze(1))
        defect = torch.stack([displacement[0, 0] - self.clamp[0], displacement[-1, 0] - self.clamp[1]])
        return CMPState(loss, defect)
