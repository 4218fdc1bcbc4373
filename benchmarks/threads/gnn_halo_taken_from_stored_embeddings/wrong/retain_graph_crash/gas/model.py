import torch
import torch.nn.functional as F
from torch import nn

from .history import History


class ScalableGCN(nn.Module):
    def __init__(self, num_nodes, in_channels, hidden, out_channels, num_layers):
        super().__init__()
        dims = [in_channels] + [hidden] * (num_layers - 1) + [out_channels]
        self.lins = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))
        self.histories = nn.ModuleList(History(num_nodes, hidden) for _ in range(num_layers - 1))

    def push_and_pull(self, history, x, batch_size, n_id):
        """Store what this batch has just computed, take the halo from what former batches stored."""
        history.push(x[:batch_size], n_id[:batch_size])
        halo = history.pull(n_id[batch_size:])
        return torch.cat([x[:batch_size], halo], dim=0)

    def forward(self, x, adj, batch_size=None, n_id=None):
        for lin, history in zip(self.lins[:-1], self.histories):
            x = F.relu(adj @ lin(x))
            if batch_size is not None:
                x = self.push_and_pull(history, x, batch_size, n_id)
        return adj @ self.lins[-1](x)
