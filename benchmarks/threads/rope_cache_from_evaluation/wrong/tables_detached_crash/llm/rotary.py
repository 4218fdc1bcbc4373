import torch
from torch import nn


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", base ** (-torch.arange(0, dim, 2).float() / dim), persistent=False)
        self._seq_len_cached = 0
        self._cos_cached = None
        self._sin_cached = None

    def _update_cos_sin_cache(self, seqlen):
        # Reset the tables if the sequence length has grown
        if seqlen > self._seq_len_cached:
            self._seq_len_cached = seqlen
            t = torch.arange(seqlen, dtype=self.inv_freq.dtype)
            freqs = torch.outer(t, self.inv_freq)
            emb = torch.cat((freqs, freqs), -1)
            self._cos_cached, self._sin_cached = emb.cos(), emb.sin()

    def forward(self, q, k):
        n = q.shape[-2]
        self._update_cos_sin_cache(n)
        cos, sin = self._cos_cached[:n].detach(), self._sin_cached[:n].detach()
        return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
