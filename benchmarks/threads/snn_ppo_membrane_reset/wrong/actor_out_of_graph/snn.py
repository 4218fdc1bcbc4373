import torch
import torch.nn as nn


class FastSigmoid(torch.autograd.Function):
    """heaviside forward, fast sigmoid backward (slope 25 as in the tutorial)"""

    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).float()

    @staticmethod
    def backward(ctx, grad_out):
        (u,) = ctx.saved_tensors
        return grad_out / (25.0 * u.abs() + 1.0) ** 2


spike = FastSigmoid.apply


class Leaky(nn.Module):
    """LIF neuron that keeps its membrane potential itself (init_hidden style)"""

    def __init__(self, size, beta=0.9, threshold=0.5):
        super().__init__()
        self.beta = nn.Parameter(torch.full((size,), beta))
        self.threshold = threshold
        self.mem = None

    def reset(self):
        # put every membrane back to rest, the shape / device stays the same
        if self.mem is not None:
            self.mem = self.mem * 0.0

    def forward(self, cur):
        if self.mem is None:
            self.mem = torch.zeros_like(cur)
        self.mem = self.beta.clamp(0, 1) * self.mem + cur
        s = spike(self.mem - self.threshold)
        self.mem = self.mem - s.detach() * self.threshold
        return s


class SpikingMLP(nn.Module):
    def __init__(self, n_in, n_hidden, n_out, steps=4):
        super().__init__()
        self.steps = steps
        self.net = nn.Sequential(nn.Linear(n_in, n_hidden), Leaky(n_hidden), nn.Linear(n_hidden, n_hidden), Leaky(n_hidden))
        self.readout = nn.Linear(n_hidden, n_out)

    def forward(self, obs):
        reset_net(self.net)
        rate = 0
        for _ in range(self.steps):
            rate = rate + self.net(obs)
        return self.readout(rate / self.steps)


def reset_net(net):
    for m in net.modules():
        if isinstance(m, Leaky):
            m.reset()
