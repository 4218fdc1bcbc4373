# -*- coding: utf-8 -*-
"""Encoder for circuits / computation graphs: nodes are visited in topological order, every node attends over the
states of its predecessors (their *final* states, as in DAGNN / D-VAE). Targets: delay of the graph."""
import torch
from torch import nn
import torch.nn.functional as F


def random_dag(n, p=0.35):
    adj = (torch.rand(n, n) < p).float().triu(1)          # adj[u, v] = 1: u -> v
    perm = torch.randperm(n)
    types = torch.randint(0, 4, (n,))
    inv = perm.argsort()
    adj = adj[inv][:, inv]
    order = perm.tolist()
    depth = torch.zeros(n)
    cost = torch.tensor([0.2, 0.5, 0.9, 0.1])
    for v in order:
        pred = adj[:, v].nonzero().flatten()
        depth[v] = cost[types[v]] + (depth[pred].max() if len(pred) else 0.0)
    return {"types": types, "adj": adj, "order": order, "y": depth.max()}


class DagEncoder(nn.Module):
    def __init__(self, n_types=4, dim=12, bidirectional=False):
        super().__init__()
        self.dim = dim
        self.embed = nn.Embedding(n_types, dim)
        self.query = nn.Linear(dim, dim, bias=False)
        self.cell = nn.GRUCell(dim, dim)
        self.gate = nn.Linear(dim, 1)
        self.readout = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, 1))
        assert not bidirectional, "TODO"

    def message(self, h, q, mask):
        if not mask.any():
            return torch.zeros(self.dim)
        score = (h @ q).masked_fill(~mask, float("-inf"))
        return F.softmax(score, dim=0) @ h

    def forward(self, g):
        x = self.embed(g["types"])
        q = self.query(x)
        rows = [torch.zeros(self.dim) for _ in x]
        for v in g["order"]:
            m = self.message(torch.stack(rows), q[v], g["adj"][:, v] > 0)
            rows[v] = self.cell(x[v][None], m[None])[0]
        h = torch.stack(rows)
        w = torch.sigmoid(self.gate(h))
        return self.readout((w * h).sum(0)).squeeze(-1)


class Trainer:
    def __init__(self, model, graphs, lr=5e-3):
        self.model, self.graphs = model, graphs
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)

    def epoch(self, bs=4):
        total = 0.0
        for i in range(0, len(self.graphs), bs):
            chunk = self.graphs[i:i + bs]
            pred = torch.stack([self.model(g) for g in chunk])
            loss = F.smooth_l1_loss(pred, torch.stack([g["y"] for g in chunk]))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(chunk)
        return total / len(self.graphs)


if __name__ == "__main__":
    torch.manual_seed(3)
    graphs = [random_dag(8) for _ in range(8)]
    trainer = Trainer(DagEncoder(), graphs)
    for e in range(4):
        print(f"epoch {e}: {trainer.epoch():.6f}")
