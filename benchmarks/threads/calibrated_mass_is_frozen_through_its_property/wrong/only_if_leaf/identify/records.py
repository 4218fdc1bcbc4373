from types import SimpleNamespace

import torch

from .body import Gripper
from .simulate import simulate

DT = 0.05


def _record(truth, x0, inputs, hooked, noise=0.002):
    with torch.no_grad():
        real = Gripper(**truth)
        x = simulate(real, x0, torch.zeros_like(x0), inputs, DT, hooked)
    return SimpleNamespace(x0=x0, v0=torch.zeros_like(x0), inputs=inputs, dt=DT,
                           x=x + noise * torch.randn_like(x))


def free_record(truth, steps=30, runs=4):
    t = torch.arange(steps) * DT
    phase = torch.rand(runs) * 3.0
    inputs = torch.sin(2.5 * t[:, None] + phase) + 0.4
    return _record(truth, torch.zeros(runs), inputs, hooked=False)


def hooked_record(truth, steps=40):
    x0 = torch.tensor([0.2, 0.5, -0.3, 0.8])
    return _record(truth, x0, torch.zeros(steps, len(x0)), hooked=True)
