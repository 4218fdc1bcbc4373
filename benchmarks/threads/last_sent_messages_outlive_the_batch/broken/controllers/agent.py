import torch
from torch import nn
from torch.nn import functional as F


class RNNAgent(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.fc = nn.Linear(cfg.obs_dim + cfg.n_agents, cfg.rnn_dim)
        self.rnn = nn.GRUCell(cfg.rnn_dim, cfg.rnn_dim)
        self.local_q = nn.Linear(cfg.rnn_dim, cfg.n_actions)
        self.encode = nn.Sequential(nn.Linear(cfg.rnn_dim, 12), nn.LeakyReLU(), nn.Linear(12, cfg.msg_dim))
        self.listen = nn.Linear(cfg.msg_dim, cfg.n_actions)

    def init_hidden(self, rows):
        return self.fc.weight.new_zeros(rows, self.cfg.rnn_dim)

    def forward(self, x, h):
        h = self.rnn(F.relu(self.fc(x)), h)
        return self.local_q(h), self.encode(h), h
