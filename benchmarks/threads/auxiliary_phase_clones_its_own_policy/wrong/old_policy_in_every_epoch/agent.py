import torch
import torch.nn as nn
from torch.distributions import Categorical


class Agent(nn.Module):
    """Phasic policy gradient, two networks: the policy net carries an auxiliary value head."""

    def __init__(self, obs_dim, n_actions, width=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi_head = nn.Linear(width, n_actions)
        self.aux_head = nn.Linear(width, 1)
        self.vf = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, 1))

    def pi(self, obs):
        return Categorical(logits=self.pi_head(self.body(obs)))

    def aux_value(self, obs):
        return self.aux_head(self.body(obs)).squeeze(-1)

    def value(self, obs):
        return self.vf(obs).squeeze(-1)

    def policy_parameters(self):
        return [*self.body.parameters(), *self.pi_head.parameters(), *self.aux_head.parameters()]
