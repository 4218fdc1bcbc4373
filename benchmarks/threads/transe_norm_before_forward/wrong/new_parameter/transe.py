import torch
from torch import nn


class TransE(nn.Module):
    def __init__(self, n_ent, n_rel, dim, margin=1.0):
        super().__init__()
        self.ent, self.rel = nn.Embedding(n_ent, dim), nn.Embedding(n_rel, dim)
        self.margin = margin

    def normalize(self):
        norms = self.ent.weight.norm(p=2, dim=1, keepdim=True)
        self.ent.weight = nn.Parameter(self.ent.weight / norms)

    def distance(self, t):
        return (self.ent(t[:, 0]) + self.rel(t[:, 1]) - self.ent(t[:, 2])).norm(p=2, dim=1)

    def margin_loss(self, pos, neg):
        return torch.relu(self.margin + self.distance(pos) - self.distance(neg)).mean()
