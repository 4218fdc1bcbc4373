import torch
from torch import nn


class StatefulLayer(nn.Module):
    """GRU cell with the state as a buffer, keras style (stateful=True): the caller feeds one time step after the other."""

    def __init__(self, d_in, d_hidden, batch):
        super().__init__()
        self.cell = nn.GRUCell(d_in, d_hidden)
        self.register_buffer("h", torch.zeros(batch, d_hidden))

    def forward(self, x):
        new_h = self.cell(x, self.h)
        self.h = new_h
        return new_h

    def reset_states(self):
        self.h = torch.zeros_like(self.h)

    def detach_states(self):
        self.h = self.h.detach()


class Forecaster(nn.Module):
    def __init__(self, d_in, d_hidden, batch):
        super().__init__()
        self.layer1 = StatefulLayer(d_in, d_hidden, batch)
        self.layer2 = StatefulLayer(d_hidden, d_hidden, batch)
        self.out = nn.Linear(d_hidden, d_in)

    def stateful(self):
        return [m for m in self.modules() if isinstance(m, StatefulLayer)]

    def forward(self, x):
        return self.out(self.layer2(self.layer1(x)))
