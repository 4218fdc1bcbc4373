import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class Manager(nn.Module):
    """Sees the observation, proposes a direction. Trained by the transition policy gradient, nothing else."""

    def __init__(self, obs_dim, dim):
        super().__init__()
        self.space = nn.Sequential(nn.Linear(obs_dim, 24), nn.Tanh(), nn.Linear(24, dim))
        self.core = nn.Sequential(nn.Linear(dim, 24), nn.Tanh(), nn.Linear(24, dim))
        self.critic = nn.Linear(dim, 1)

    def forward(self, obs):
        state = self.space(obs)
        goal = F.normalize(self.core(torch.tanh(state)), dim=-1)
        return state, goal, self.critic(state).squeeze(-1)


class Worker(nn.Module):
    def __init__(self, obs_dim, dim, n_actions, k=6):
        super().__init__()
        self.n_actions, self.k = n_actions, k
        self.embed = nn.Sequential(nn.Linear(obs_dim, 24), nn.Tanh(), nn.Linear(24, n_actions * k))
        self.phi = nn.Linear(dim, k, bias=False)   # goal embedding, no bias: a goal cannot be ignored

    def forward(self, obs, goal):
        u = self.embed(obs).view(-1, self.n_actions, self.k)
        w = self.phi(goal)
        return Categorical(logits=torch.einsum("bak,bk->ba", u, w))
