# -*- coding: utf-8 -*-
"""流式注意力：逐步解码，预分配 KV cache (streaming attention with a preallocated cache)

Every chunk of a long stream is processed token by token; the cache of the previous chunk stays visible but is
treated as a constant (truncated BPTT as in Transformer-XL).
"""
import math

import torch
import torch.nn as nn


class KVCache:
    def __init__(self, batch, max_len, dim):
        self.k = torch.zeros(batch, max_len, dim)
        self.v = torch.zeros(batch, max_len, dim)
        self.pos = 0

    def append(self, k, v):
        self.k, self.v = self.k.clone(), self.v.clone()
        self.k[:, self.pos] = k
        self.v[:, self.pos] = v
        self.pos += 1

    def view(self):
        return self.k[:, :self.pos], self.v[:, :self.pos]

    def cut(self, keep):
        """new chunk: only the last `keep` positions, no gradient into the past"""
        k, v = self.k.detach(), self.v.detach()
        fresh_k, fresh_v = torch.zeros_like(k), torch.zeros_like(v)
        keep = min(keep, self.pos)
        fresh_k[:, :keep] = k[:, self.pos - keep:self.pos]
        fresh_v[:, :keep] = v[:, self.pos - keep:self.pos]
        self.k, self.v, self.pos = fresh_k, fresh_v, keep


class StreamingAttention(nn.Module):
    def __init__(self, dim, decay=0.02):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.o = nn.Linear(dim, dim)
        self.decay = decay

    def step(self, x, cache):
        cache.append(self.k(x), self.v(x))
        K, V = cache.view()
        score = torch.einsum("bd,btd->bt", self.q(x), K) / math.sqrt(x.size(-1))
        age = torch.arange(cache.pos - 1, -1, -1)
        w = torch.softmax(score - self.decay * age, dim=-1)
        return self.o(torch.einsum("bt,btd->bd", w, V))


class StreamModel(nn.Module):
    def __init__(self, n_feat=3, dim=16):
        super().__init__()
        self.inp = nn.Linear(n_feat, dim)
        self.attn = StreamingAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_feat)

    def forward(self, chunk, cache):
        outs = []
        for t in range(chunk.size(1)):
            h = self.inp(chunk[:, t])
            h = self.norm(h + self.attn.step(h, cache))
            outs.append(self.head(h))
        return torch.stack(outs, dim=1)


def make_stream(batch, length):
    t = torch.arange(length).float()
    phase = 6.28 * torch.rand(batch, 1)
    a = torch.sin(0.3 * t + phase)
    b = torch.sin(0.11 * t + 2 * phase)
    return torch.stack([a, b, a * b], dim=-1) + 0.05 * torch.randn(batch, length, 3)


def train(chunk_len=8, memory=8, batch=6, dim=16):
    stream = make_stream(batch, chunk_len * 7 + 1)
    model = StreamModel(dim=dim)
    optim = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    cache = KVCache(batch, memory + chunk_len, dim)
    for c in range(7):
        lo = c * chunk_len
        x, y = stream[:, lo:lo + chunk_len], stream[:, lo + 1:lo + chunk_len + 1]
        pred = model(x, cache)
        loss = (pred - y).square().mean()
        optim.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        cache.cut(memory)
        print(f"chunk {c}: loss {loss.item():.5f} grad {gn.item():.5f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(8)
    train()
