import torch
from torch import nn


class MainNet(nn.Module):
    """No weights of its own, they come from the hypernetwork."""

    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.shapes = [(n_hidden, n_in), (n_hidden,), (1, n_hidden), (1,)]

    def forward(self, x, weights):
        w1, b1, w2, b2 = weights
        return torch.tanh(x @ w1.t() + b1) @ w2.t() + b2


class ChunkedHyperNet(nn.Module):
    def __init__(self, num_tasks, shapes, te_dim, hidden=12):
        super().__init__()
        self.shapes = shapes
        self.task_embs = nn.ParameterList([nn.Parameter(torch.randn(te_dim)) for _ in range(num_tasks)])
        n_out = sum(torch.Size(s).numel() for s in shapes)
        self.body = nn.Sequential(nn.Linear(te_dim, hidden), nn.ELU(), nn.Linear(hidden, n_out))

    def forward(self, task_id):
        flat = self.body(self.task_embs[task_id])
        out, at = [], 0
        for s in self.shapes:
            n = torch.Size(s).numel()
            out.append(flat[at:at + n].view(s))
            at += n
        return out
