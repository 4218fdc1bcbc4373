from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class LayerOutput:
    hidden: torch.Tensor
    balance: torch.Tensor      # load balancing of the two adapters


class Adapter(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.down = nn.Linear(dim, rank, bias=False)
        self.up = nn.Linear(rank, dim, bias=False)
        nn.init.normal_(self.up.weight, std=0.05)

    def forward(self, x):
        return self.up(torch.relu(self.down(x)))


class Layer(nn.Module):
    """Causal mixing and a frozen MLP; two adapters with a soft router learn beside it."""

    def __init__(self, dim, rank=4):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.GRU(dim, dim, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.adapters = nn.ModuleList([Adapter(dim, rank), Adapter(dim, rank)])
        self.router = nn.Linear(dim, 2)

    def forward(self, x):
        h, _ = self.mix(self.norm(x))
        x = x + self.mlp(h)
        gate = torch.softmax(self.router(x), dim=-1)
        x = x + sum(gate[..., i:i + 1] * a(x) for i, a in enumerate(self.adapters))
        return LayerOutput(hidden=x, balance=2 * (gate.mean(dim=(0, 1)) ** 2).sum())
