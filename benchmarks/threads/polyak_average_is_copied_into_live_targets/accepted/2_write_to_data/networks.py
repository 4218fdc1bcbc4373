import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, hidden, n_out):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_out))


class TwinQ(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden):
        super().__init__()
        self.q1 = mlp(obs_dim, hidden, n_actions)
        self.q2 = mlp(obs_dim, hidden, n_actions)

    def forward(self, obs):
        return self.q1(obs), self.q2(obs)


class Policy(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden):
        super().__init__()
        self.net = mlp(obs_dim, hidden, n_actions)

    def forward(self, obs):
        logits = self.net(obs)
        return F.softmax(logits, dim=1), F.log_softmax(logits, dim=1)
