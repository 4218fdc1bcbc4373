import torch
import torch.nn as nn
from torch.distributions import Normal


class GaussianActor(nn.Module):
    def __init__(self, n_obs, n_act, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU())
        self.mu = nn.Linear(hidden, n_act)
        self.value = nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.full((n_act,), -0.5))

    def forward(self, obs):
        with torch.no_grad():
            h = self.body(obs)
        return Normal(self.mu(h), self.log_std.exp()), self.value(h).squeeze(-1)

    def act(self, obs):
        dist, value = self(obs)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1), value, dist.entropy().sum(-1)


class Rollout:
    """Keeps what the update needs; graph kept alive until update()."""

    def __init__(self):
        self.rows = []

    def add(self, *row):
        self.rows.append(row)

    def returns(self, gamma):
        out, run = [], 0.0
        for *_, reward in reversed(self.rows):
            run = reward + gamma * run
            out.append(run)
        return torch.stack(out[::-1])

    def stacked(self):
        return [torch.stack(col) for col in zip(*[r[:-1] for r in self.rows])]
