import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, hidden, dim):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, dim))


class MomentumPair(nn.Module):
    def __init__(self, n_in, hidden, dim, m):
        super().__init__()
        self.m = m
        self.query = mlp(n_in, hidden, dim)
        self.key = copy.deepcopy(self.query)
        for p in self.key.parameters():
            p.requires_grad = False

    def encode_query(self, x):
        return F.normalize(self.query(x), dim=1)

    @torch.no_grad()
    def encode_key(self, x):
        return F.normalize(self.key(x), dim=1)

    @torch.no_grad()
    def momentum_update(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.mul_(self.m).add_(q, alpha=1. - self.m)
