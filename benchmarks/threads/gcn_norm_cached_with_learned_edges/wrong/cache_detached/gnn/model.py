import torch
from torch import nn

from .conv import GCNConv


class EdgeMask(nn.Module):
    def __init__(self, n_edges):
        super().__init__()
        self.logits = nn.Parameter(torch.full((n_edges,), 1.0))

    def forward(self):
        return torch.sigmoid(self.logits)


class GCN(nn.Module):
    def __init__(self, n_in, hidden, n_classes, cached):
        super().__init__()
        self.conv1 = GCNConv(n_in, hidden, cached=cached)
        self.conv2 = GCNConv(hidden, n_classes, cached=cached)

    def forward(self, x, edge_index, edge_weight):
        x = torch.relu(self.conv1(x, edge_index, edge_weight))
        return self.conv2(x, edge_index, edge_weight)
