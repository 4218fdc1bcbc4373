import random

import torch
import torch.nn as nn


class Actor(nn.Module):
    def __init__(self, in_dim, out_dim, scale):
        super(Actor, self).__init__()
        self.l1 = nn.Linear(in_dim, 32)
        self.l2 = nn.Linear(32, out_dim)
        self.scale = scale

    def forward(self, state, goal):
        x = torch.relu(self.l1(torch.cat([state, goal], -1)))
        return self.scale * torch.tanh(self.l2(x))


class Critic(nn.Module):
    def __init__(self, in_dim):
        super(Critic, self).__init__()
        self.l1 = nn.Linear(in_dim, 32)
        self.l2 = nn.Linear(32, 1)

    def forward(self, state, goal, action):
        return self.l2(torch.relu(self.l1(torch.cat([state, goal, action], -1)))).squeeze(-1)


class ReplayBuffer(object):
    def __init__(self, seed):
        self.data = []
        self.rng = random.Random(seed)

    def append(self, *items):
        self.data.append(items)

    def __len__(self):
        return len(self.data)

    def sample(self, n):
        rows = [self.rng.choice(self.data) for _ in range(n)]
        return [torch.tensor(col, dtype=torch.float32) for col in zip(*rows)]


class OUNoise(object):
    """exploration noise with memory"""

    def __init__(self, dim, sigma, theta=0.2):
        self.dim, self.sigma, self.theta = dim, sigma, theta
        self.reset()

    def reset(self):
        self.x = torch.zeros(self.dim)

    def __call__(self):
        self.x = (1 - self.theta) * self.x + self.sigma * torch.randn(self.dim)
        return self.x
