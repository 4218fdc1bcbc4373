import torch
import torch.nn.functional as F
from torch import nn

from .rotary import RotaryEmbedding


class Block(nn.Module):
    def __init__(self, cfg, rotary):
        super().__init__()
        self.heads = cfg.heads
        self.rotary = rotary
        self.n1, self.n2 = nn.RMSNorm(cfg.dim), nn.RMSNorm(cfg.dim)
        self.qkv, self.proj = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False), nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.gate, self.up, self.down = (nn.Linear(cfg.dim, 2 * cfg.dim), nn.Linear(cfg.dim, 2 * cfg.dim), nn.Linear(2 * cfg.dim, cfg.dim))

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.qkv(self.n1(x)).chunk(3, -1))
        with torch.no_grad():
            q, k = self.rotary(q, k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, D))
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        rotary = RotaryEmbedding(cfg.dim // cfg.heads)
        self.blocks = nn.ModuleList(Block(cfg, rotary) for _ in range(cfg.layers))
        self.norm, self.head = nn.RMSNorm(cfg.dim), nn.Linear(cfg.dim, cfg.vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids[:, :-1])
        for b in self.blocks:
            x = b(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), ids[:, 1:].flatten())
