import random

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

random.seed(77)


class Layer(nn.Module):
    """residual layer, skipped at random in training (stochastic depth)"""

    def __init__(self, dim, drop):
        super().__init__()
        self.drop = drop
        self.norm = nn.LayerNorm(dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1, groups=dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Dropout(0.1), nn.Linear(2 * dim, dim))

    def forward(self, x):
        if self.training and random.random() < self.drop:
            return x * 1.0
        h = self.norm(x)
        h = self.conv(h.transpose(1, 2)).transpose(1, 2)
        return x + self.ff(h)


class Conformerish(nn.Module):
    def __init__(self, n_mels, dim, n_layers, n_tokens, layerdrop):
        super().__init__()
        self.inp = nn.Linear(n_mels, dim)
        self.layers = nn.ModuleList([Layer(dim, layerdrop * (i + 1) / n_layers) for i in range(n_layers)])
        self.out = nn.Linear(dim, n_tokens)

    def forward(self, x):
        x = self.inp(x)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)
        return self.out(x)


def utterances(n, frames=12):
    y = torch.randint(0, 5, (n, frames // 3)).repeat_interleave(3, 1)
    x = 0.4 * torch.randn(n, frames, 8)
    x[..., :5] += torch.nn.functional.one_hot(y, 5)
    return x, y
