import torch
import torch.nn as nn
import torch.nn.functional as F


class SwitchFFN(nn.Module):
    """top-1 routing. The balance term of every call is left in `aux` for the trainer."""

    def __init__(self, dim, hidden, n_experts):
        super().__init__()
        self.n_experts = n_experts
        self.gate = nn.Linear(dim, n_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim)) for _ in range(n_experts)
        )
        self.aux = []
        self.load = torch.zeros(n_experts)

    def forward(self, x):
        probs = F.softmax(self.gate(x), dim=-1)
        top_p, top_i = probs.max(dim=-1)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = (top_i == e).nonzero(as_tuple=True)[0]
            if rows.numel():
                out = out.index_add(0, rows, expert(x[rows]) * top_p[rows].unsqueeze(1))
        frac = F.one_hot(top_i, self.n_experts).float().mean(0)
        self.load += frac
        # Switch Transformer eq. (4)
        self.aux.append(self.n_experts * (frac * probs.mean(0)).sum())
        return x + out


class TinyMoE(nn.Module):
    def __init__(self, vocab=20, dim=12, n_layers=2, n_experts=3):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(SwitchFFN(dim, 16, n_experts) for _ in range(n_layers))
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        h = self.emb(tokens).view(-1, self.emb.embedding_dim)
        for layer in self.layers:
            h = layer(h)
        return self.out(self.norm(h))

    def aux_loss(self):
        terms = [a for layer in self.layers for a in layer.aux]
        return sum(terms) / len(self.layers)

    def reset_aux(self):
        for layer in self.layers:
            layer.aux.clear()
