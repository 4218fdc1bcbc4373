import math
import torch
import torch.nn as nn


def mlp(i, o, h=24):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))


class SoftAgent:
    """Actor, critic and the temperature alpha (kept positive through its logarithm)."""

    def __init__(self, obs_dim, act_dim, init_alpha):
        self.actor = mlp(obs_dim, 2 * act_dim)
        self.critic = mlp(obs_dim + act_dim, 1)
        self.log_alpha = torch.tensor(math.log(init_alpha), requires_grad=True)
        self.alpha = self.log_alpha.exp()
        self.target_entropy = -0.5 * act_dim

    def act(self, obs, noise):
        mean, log_std = self.actor(obs).chunk(2, dim=-1)
        log_std = log_std.clamp(-4, 1)
        a = mean + noise * log_std.exp()
        logp = (-0.5 * noise ** 2 - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)
        return a, logp

    def q(self, obs, act):
        return self.critic(torch.cat([obs, act], -1)).squeeze(-1)
