import torch
from torch import nn


def gcn_norm(edge_index, edge_weight, num_nodes):
    loop = torch.arange(num_nodes).repeat(2, 1)
    edge_index = torch.cat([edge_index, loop], dim=1)
    edge_weight = torch.cat([edge_weight, torch.ones(num_nodes)])
    row, col = edge_index
    deg = torch.zeros(num_nodes).index_add(0, col, edge_weight)
    dinv = deg.pow(-0.5)
    return edge_index, dinv[row] * edge_weight * dinv[col]


class GCNConv(nn.Module):
    """cached: the normalised graph is computed at the first call only (transductive learning)"""

    def __init__(self, n_in, n_out, cached=False):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.cached = cached
        self._cached_graph = None

    def forward(self, x, edge_index, edge_weight):
        if self._cached_graph is None:
            graph = gcn_norm(edge_index, edge_weight, x.size(0))
            if self.cached:
                self._cached_graph = graph
        else:
            graph = self._cached_graph
        (row, col), norm = graph
        x = self.lin(x)
        return torch.zeros_like(x).index_add(0, col, norm[:, None] * x[row]) + self.bias
