import math

import torch
from torch import nn

_TABLES = {}


def sinusoids(length, dim):
    """Positions as in "Attention is all you need", made once for each length."""
    if length not in _TABLES:
        at = torch.arange(length).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(1e4) / dim))
        table = torch.zeros(length, dim)
        table[:, 0::2], table[:, 1::2] = torch.sin(at * div), torch.cos(at * div)
        _TABLES[length] = table
    return _TABLES[length]


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gate = nn.Linear(dim, dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.out = nn.Linear(dim, vocab)
        self.scale = dim ** -0.5

    def forward(self, tokens):
        table = sinusoids(tokens.shape[1], self.emb.embedding_dim)
        gate = torch.sigmoid(self.gate(table))
        table = table * self.scale
        h = self.emb(tokens) * gate + table
        h = h + self.attn(h, h, h)[0]
        return self.out(h)
