from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Rollout:
    states: torch.Tensor
    decoded: torch.Tensor


class World(nn.Module):
    def __init__(self, hidden=6):
        super().__init__()
        self.start = nn.Linear(3, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.decode = nn.Linear(hidden, 3)
        self.reward = nn.Linear(hidden, 1)

    def imagine(self, first, steps):
        h = torch.tanh(self.start(first))
        states = []
        for _ in range(steps):
            h = self.cell(h, h)
            states.append(h)
        states = torch.stack(states)
        return Rollout(states, self.decode(states))
