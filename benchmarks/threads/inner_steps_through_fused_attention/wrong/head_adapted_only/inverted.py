import torch
from torch import nn
import torch.nn.functional as F


class Attend(nn.Module):
    """every variate is a token"""

    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        out = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, d))


class InvertedForecaster(nn.Module):
    def __init__(self, lookback, horizon, dim=12):
        super().__init__()
        self.tokens = nn.Linear(lookback, dim)
        self.attn = Attend(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, dim))
        self.head = nn.Linear(dim, horizon)

    def forward(self, x):
        x = self.tokens(x)
        x = x + self.attn(x)
        x = x + self.ff(x)
        return self.head(x)
