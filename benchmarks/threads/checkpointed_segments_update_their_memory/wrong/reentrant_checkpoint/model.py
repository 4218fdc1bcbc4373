import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class RecurrentBlock(nn.Module):
    """Attention over the current segment and a memory of former hidden states (no gradient into the past)."""

    def __init__(self, dim, mem_len):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.decay = nn.Parameter(torch.tensor(0.05))
        self.ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.norm = nn.LayerNorm(dim)
        self.mem_len = mem_len
        self.mem = None

    def forward(self, x):
        past = 0 if self.mem is None else self.mem.size(1)
        ctx = x if self.mem is None else torch.cat([self.mem, x], 1)
        self.mem = ctx[:, -self.mem_len:].detach()

        L, S = x.size(1), ctx.size(1)
        n = self.norm(ctx)
        att = self.q(n[:, past:]) @ self.k(n).transpose(1, 2) / math.sqrt(x.size(-1))
        dist = torch.arange(S)[None, :] - (torch.arange(L)[:, None] + past)
        att = att + self.decay * dist
        att = att.masked_fill(dist > 0, float("-inf"))
        x = x + att.softmax(-1) @ self.v(n)
        return x + self.ff(x)


class SegmentLM(nn.Module):
    def __init__(self, vocab, dim, layers, mem_len, checkpointing):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([RecurrentBlock(dim, mem_len) for _ in range(layers)])
        self.out = nn.Linear(dim, vocab)
        self.checkpointing = checkpointing

    def reset_memory(self):
        for b in self.blocks:
            b.mem = None

    def forward(self, tokens):
        h = self.emb(tokens)
        for block in self.blocks:
            if self.checkpointing and self.training:
                h = checkpoint(block, h, use_reentrant=True)
            else:
                h = block(h)
        return self.out(h)

    def loss(self, x, y):
        return F.cross_entropy(self(x).flatten(0, 1), y.flatten())
