import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n_obs=3, n_act=2, hid=10):
        super().__init__()
        self.core = nn.LSTMCell(n_obs, hid)
        self.policy = nn.Linear(hid, n_act)
        self.baseline = nn.Linear(hid, 1)

    def initial_state(self, batch):
        return torch.zeros(batch, self.core.hidden_size), torch.zeros(batch, self.core.hidden_size)

    def forward(self, obs, state):
        state = self.core(obs, state)
        h = state[0]
        return self.policy(h), self.baseline(h).squeeze(-1), state


def make_net():
    return Net()
