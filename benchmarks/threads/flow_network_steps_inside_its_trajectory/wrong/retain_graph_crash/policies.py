import torch
from torch import nn


class ForwardPolicy(nn.Module):
    """log-probabilities of the coordinates and of stopping (last)"""

    def __init__(self, obs_dim, dims, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(),
                                 nn.Linear(hidden, dims + 1))

    def forward(self, obs, mask):
        return self.net(obs).masked_fill(~mask, -1e4).log_softmax(-1)


class BackwardPolicy(nn.Module):
    def __init__(self, obs_dim, dims, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dims))

    def forward(self, obs, parents):
        return self.net(obs).masked_fill(~parents, -1e4).log_softmax(-1)
