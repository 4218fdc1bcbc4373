import torch
from torch import nn
from torch.nn import functional as F

import aux


class Expert(nn.Sequential):
    def __init__(self, d, hidden):
        super().__init__(nn.Linear(d, hidden), nn.GELU(), nn.Linear(hidden, d))


class SwitchFFN(nn.Module):
    """Top-1 routing (Switch Transformer, eq. 4 for the balance loss)."""

    def __init__(self, d, hidden, n_experts, balance=0.05, z=1e-3, tag="moe"):
        super().__init__()
        self.router = nn.Linear(d, n_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d, hidden) for _ in range(n_experts))
        self.balance, self.z, self.tag = balance, z, tag

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        logits = self.router(flat)
        probs = logits.softmax(-1)
        gate, choice = probs.max(-1)
        share = F.one_hot(choice, len(self.experts)).float().mean(0)
        if self.training:
            aux.add(self.tag + "/balance", len(self.experts) * (share * probs.mean(0)).sum(), self.balance)
            aux.add(self.tag + "/z", torch.logsumexp(logits, -1).pow(2).mean(), self.z)
        out = torch.zeros_like(flat)
        for k, expert in enumerate(self.experts):
            rows = (choice == k).nonzero().squeeze(-1)
            if len(rows):
                out = out.index_add(0, rows, expert(flat[rows]) * gate[rows, None])
        return out.view_as(x)


class Block(nn.Module):
    def __init__(self, d, heads, **moe):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ffn = SwitchFFN(d, **moe)

    def forward(self, x, mask):
        h = self.n1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.ffn(self.n2(x))
