import torch as th
import torch.nn as nn


class RecurrentQ(nn.Module):
    def __init__(self, obs_dim, n_actions, hid=20):
        super().__init__()
        self.inp = nn.Linear(obs_dim, hid)
        self.gru = nn.GRUCell(hid, hid)
        self.out = nn.Linear(hid, n_actions)

    def init_hidden(self, n):
        return th.zeros(n, self.gru.hidden_size)

    def forward(self, obs, h):
        h = self.gru(th.relu(self.inp(obs)), h)
        return self.out(h), h


class VDNMixer(nn.Module):
    """sum over the agents, no parameters"""

    def forward(self, agent_qs, states=None):
        return agent_qs.sum(dim=2, keepdim=True)
