import math

import torch


def exact(x, t, kappa=0.15):
    return torch.exp(-kappa * math.pi ** 2 * t) * torch.sin(math.pi * x)


def measurements(n, noise):
    x, t = torch.rand(n, 1), torch.rand(n, 1)
    return x, t, exact(x, t) + noise * torch.randn(n, 1)


def collocation_points(n):
    return torch.rand(n, 1).requires_grad_(), torch.rand(n, 1).requires_grad_()
