import torch
import torch.nn as nn
from torch.distributions import Normal


def mlp(sizes, act=nn.ReLU):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(act())
    return nn.Sequential(*layers)


class TwinQ(nn.Module):
    def __init__(self, s, a, h):
        super().__init__()
        self.q1 = mlp([s + a, h, h, 1])
        self.q2 = mlp([s + a, h, h, 1])

    def both(self, state, action):
        sa = torch.cat([state, action], dim=1)
        return self.q1(sa).squeeze(-1), self.q2(sa).squeeze(-1)

    def forward(self, state, action):
        return torch.min(*self.both(state, action))


class ValueFunction(nn.Module):
    def __init__(self, s, h):
        super().__init__()
        self.v = mlp([s, h, h, 1])

    def forward(self, state):
        return self.v(state).squeeze(-1)


class GaussianPolicy(nn.Module):
    def __init__(self, s, a, h):
        super().__init__()
        self.net = mlp([s, h, h, a])
        self.log_std = nn.Parameter(torch.zeros(a))

    def forward(self, state):
        return Normal(self.net(state), self.log_std.clamp(-5.0, 2.0).exp())
