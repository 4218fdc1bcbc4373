import torch
import torch.nn as nn


class SIRModel(nn.Module):
    """dS/dt = -b S I,  dI/dt = b S I - g I,  dR/dt = g I  with learnable b, g."""

    def __init__(self, beta, gamma, i0=0.02):
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(beta))
        self.gamma = nn.Parameter(torch.tensor(gamma))
        self.i0 = i0

    def initial_state(self):
        return torch.tensor([1.0 - self.i0, self.i0, 0.0])

    def forward(self, t, y):
        S, I, R = y
        infection = self.beta * S * I
        recovery = self.gamma * I
        effect = torch.tensor([[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]])
        return effect @ torch.stack([infection, recovery])


def rk4(func, y0, t):
    """Classic Runge-Kutta on the grid t, returns [len(t), dim]."""
    y, out = y0, [y0]
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        k1 = func(t[i], y)
        k2 = func(t[i] + h / 2, y + h / 2 * k1)
        k3 = func(t[i] + h / 2, y + h / 2 * k2)
        k4 = func(t[i] + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(y)
    return torch.stack(out)
