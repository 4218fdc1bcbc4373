import torch
from torch import nn


class PolicyValue(nn.Module):
    def __init__(self, cells=9, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cells, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.policy = nn.Linear(hidden, cells)
        self.value = nn.Linear(hidden, 1)

    def forward(self, board):
        h = self.trunk(board)
        return self.policy(h), torch.tanh(self.value(h)).squeeze(-1)
