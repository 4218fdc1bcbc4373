import math

import torch
from torch import nn


class SpatialBlock(nn.Module):
    """Self attention over the tokens of one picture."""

    def __init__(self, dim: int):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * dim, bias=False)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))
        self.mode = None
        self.bank = []

    def forward(self, h):
        x = self.norm(h)
        context = x
        if self.mode == "write":
            self.bank.append(x)
        elif self.mode == "read" and self.bank:
            context = torch.cat([x] + self.bank, dim=1)
        k, v = self.kv(context).chunk(2, dim=-1)
        attention = torch.softmax(self.q(x) @ k.transpose(1, 2) / math.sqrt(x.shape[-1]), dim=-1)
        h = h + attention @ v
        return h + self.ff(h)


class TinyUNet(nn.Module):
    def __init__(self, dim: int, depth: int):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(2, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList(SpatialBlock(dim) for _ in range(depth))
        self.out = nn.Linear(dim, dim)

    def forward(self, x, t, guide=None):
        emb = self.time(torch.stack([t.sin(), t.cos()], dim=-1)).unsqueeze(1)
        h = x + emb if guide is None else x + emb + guide
        for block in self.blocks:
            h = block(h)
        return self.out(h)
