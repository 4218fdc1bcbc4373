import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Adapter(nn.Module):
    """Houlsby adapter, starts as identity."""

    def __init__(self, dim, rank, dropout):
        super().__init__()
        self.down, self.up = nn.Linear(dim, rank), nn.Linear(rank, dim)
        self.dropout = nn.Dropout(dropout)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        return x + self.up(torch.relu(self.down(self.dropout(x))))


class Layer(nn.Module):
    def __init__(self, dim, heads, rank, dropout):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.adapter_attn = Adapter(dim, rank, dropout)
        self.adapter_ff = Adapter(dim, rank, dropout)

    def forward(self, x):
        a, _ = self.attn(x, x, x, need_weights=False)
        x = self.ln1(x + self.adapter_attn(a))
        return self.ln2(x + self.adapter_ff(self.ff(x)))


class Encoder(nn.Module):
    def __init__(self, vocab=30, dim=16, depth=3, heads=2, rank=4, dropout=0.1, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(16, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, rank, dropout) for _ in range(depth))
        self.classifier = nn.Linear(dim, classes)
        self.gradient_checkpointing = False

    def forward(self, ids):
        h = self.embed(ids) + self.pos(torch.arange(ids.shape[1]))
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                h = checkpoint(layer, h, use_reentrant=True)
            else:
                h = layer(h)
        return self.classifier(h.mean(1))
