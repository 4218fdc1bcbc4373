import torch
import torch.nn as nn
import torch.nn.functional as F


class CachedAttention(nn.Module):
    def __init__(self, dim, heads, layer):
        super().__init__()
        self.heads, self.layer = heads, layer
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x, cache):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, self.heads, C // self.heads).transpose(1, 2) for z in self.qkv(x).chunk(3, dim=-1))
        past = 0
        if cache is not None:
            past = 0 if cache.keys[self.layer] is None else cache.keys[self.layer].size(2)
            k, v = cache.update(self.layer, k, v)
        # Zeile i darf alles bis past + i sehen
        mask = torch.ones(T, past + T, dtype=torch.bool).tril(past)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, dim, heads, layer):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = CachedAttention(dim, heads, layer)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, cache):
        x = x + self.attn(self.ln1(x), cache)
        return x + self.mlp(self.ln2(x))


class ReplyLM(nn.Module):
    def __init__(self, vocab, dim=32, heads=4, n_layers=2, max_len=64):
        super().__init__()
        self.n_layers = n_layers
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList([Block(dim, heads, i) for i in range(n_layers)])
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.08)

    def forward(self, ids, cache=None):
        start = 0 if cache is None else len(cache)
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.size(1)))
        for block in self.blocks:
            x = block(x, cache)
        return self.head(self.ln(x))
