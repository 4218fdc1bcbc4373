import torch
import torch.nn as nn

from .cache import KVCache


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.norm, self.ff = nn.LayerNorm(dim), nn.Linear(dim, dim)

    def split(self, x):
        b, n, d = x.shape
        return x.view(b, n, self.heads, -1).transpose(1, 2)

    def forward(self, x, cache):
        q = self.split(self.q(x))
        k, v = cache.update(self.split(self.k(x)), self.split(self.v(x)))
        att = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1)
        x = x + self.o((att @ v).transpose(1, 2).flatten(2))
        return x + torch.relu(self.ff(self.norm(x)))


class Decoder(nn.Module):
    def __init__(self, vocab, dim, heads, layers, max_len):
        super().__init__()
        self.dim, self.heads, self.max_len = dim, heads, max_len
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(max_len, dim)
        self.layers = nn.ModuleList(DecoderLayer(dim, heads) for _ in range(layers))
        self.head = nn.Linear(dim, vocab)

    def new_cache(self, batch):
        return [KVCache(batch, self.max_len, self.heads, self.dim // self.heads) for _ in self.layers]

    def step(self, token, caches):
        x = self.tok(token)[:, None] + self.pos.weight[caches[0].pos]
        for layer, cache in zip(self.layers, caches):
            x = layer(x, cache)
        return self.head(x[:, 0])
