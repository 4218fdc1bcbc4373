import torch
import torch.nn as nn

from .layers import LoRALinear


class TinyLM(nn.Module):
    def __init__(self, vocab, dim, rank, alpha):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mix = LoRALinear(dim, dim, rank, alpha)
        self.up, self.down = LoRALinear(dim, 2 * dim, rank, alpha), LoRALinear(2 * dim, dim, rank, alpha)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        x = self.emb(tokens)
        past = torch.cumsum(x, 1) / torch.arange(1, x.shape[1] + 1).view(1, -1, 1)
        x = x + self.mix(past)
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        return self.head(x)
