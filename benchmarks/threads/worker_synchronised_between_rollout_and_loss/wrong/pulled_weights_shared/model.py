import torch
import torch.nn as nn
import torch.nn.functional as F


class ActorCritic(nn.Module):
    def __init__(self, s_dim, a_dim, hidden=20):
        super().__init__()
        self.pi1 = nn.Linear(s_dim, hidden)
        self.pi2 = nn.Linear(hidden, a_dim)
        self.v1 = nn.Linear(s_dim, hidden)
        self.v2 = nn.Linear(hidden, 1)

    def forward(self, x):
        logits = self.pi2(torch.tanh(self.pi1(x)))
        value = self.v2(torch.tanh(self.v1(x)))
        return logits, value.squeeze(-1)

    def choose(self, s):
        logits, value = self(s)
        dist = torch.distributions.Categorical(logits=logits)
        a = dist.sample()
        return a.item(), dist.log_prob(a), dist.entropy(), value
