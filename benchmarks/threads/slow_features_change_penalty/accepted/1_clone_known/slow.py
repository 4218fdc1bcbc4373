import torch
from torch import nn
import torch.nn.functional as F


class SlowFeatures(nn.Module):
    def __init__(self, nodes, dim, momentum=0.5):
        super().__init__()
        self.embed = nn.Embedding(nodes, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())
        self.rate = nn.Parameter(torch.zeros(dim))
        self.register_buffer("slow", torch.randn(nodes, dim) / 3)
        self.momentum = momentum

    def refresh(self, idx, feats):
        self.slow[idx] *= self.momentum
        self.slow[idx] += (1 - self.momentum) * feats.detach()

    def losses(self, idx, graph):
        feats = self.mlp(self.embed(idx))
        known = self.slow.clone()
        link = feats @ known.t()
        fit = F.binary_cross_entropy_with_logits(link, graph[idx])
        self.refresh(idx, feats)
        change = ((self.slow - known) * torch.exp(self.rate)).abs().mean()
        return {"fit": fit, "change": change, "rate": 0.1 * self.rate.pow(2).mean()}
