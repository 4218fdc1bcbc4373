import copy
import math

import torch
import torch.nn as nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class TanhActor(nn.Module):
    def __init__(self, obs_dim, action_dim, hidden):
        super().__init__()
        self.net = mlp(obs_dim, hidden, hidden, 2 * action_dim)

    def forward(self, obs):
        mu, log_std = self.net(obs).chunk(2, -1)
        return mu, log_std.clamp(-4.0, 1.0)

    def rsample(self, obs):
        mu, log_std = self(obs)
        noise = torch.randn_like(mu)
        raw = mu + log_std.exp() * noise
        action = torch.tanh(raw)
        log_prob = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
        log_prob = log_prob - torch.log(1 - action**2 + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self, obs_dim, action_dim, hidden):
        super().__init__()
        self.net = mlp(obs_dim + action_dim, hidden, hidden, 1)

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1))


def frozen_copy(module):
    old = copy.deepcopy(module)
    for p in old.parameters():
        p.requires_grad_(False)
    return old
