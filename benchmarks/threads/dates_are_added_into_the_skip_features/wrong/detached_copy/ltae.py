"""A light temporal attention encoder (grouped heads, one learned query per head) for series of satellite images."""
import math

import torch
import torch.nn as nn


class PositionalEncoder(nn.Module):
    def __init__(self, d, period=300.0):
        super().__init__()
        i = torch.arange(d)
        self.register_buffer("denom", period ** (2 * (i // 2).float() / d))

    def forward(self, days):
        table = days.unsqueeze(-1) / self.denom
        table = torch.where(torch.arange(len(self.denom)) % 2 == 0, table.sin(), table.cos())
        return table


class LTAE(nn.Module):
    def __init__(self, d, n_head, d_k):
        super().__init__()
        self.n_head, self.d_k = n_head, d_k
        self.position = PositionalEncoder(d)
        self.query = nn.Parameter(torch.randn(n_head, d_k) * 0.5)
        self.key = nn.Linear(d, n_head * d_k)

    def forward(self, x, days):
        """x: [batch, time, d]; returns attention [batch, head, time] and the summary [batch, d]"""
        n, t, d = x.shape
        x = x.detach() + self.position(days)
        k = self.key(x).view(n, t, self.n_head, self.d_k)
        attn = torch.einsum("nthk,hk->nht", k, self.query) / math.sqrt(self.d_k)
        attn = attn.softmax(-1)
        groups = x.view(n, t, self.n_head, d // self.n_head)
        out = torch.einsum("nht,nthe->nhe", attn, groups).reshape(n, d)
        return attn, out
