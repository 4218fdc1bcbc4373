import math

import torch


class SquaredExponential:
    def __init__(self, lengthscale=0.5, variance=1.0):
        self.log_lengthscale = torch.tensor(math.log(lengthscale))
        self.log_variance = torch.tensor(math.log(variance))

    def __call__(self, a, b):
        d2 = (a[:, None] - b[None, :]).pow(2) / torch.exp(2 * self.log_lengthscale)
        return torch.exp(self.log_variance) * torch.exp(-0.5 * d2)

    @property
    def hyperparameters(self):
        return [self.log_lengthscale, self.log_variance]
