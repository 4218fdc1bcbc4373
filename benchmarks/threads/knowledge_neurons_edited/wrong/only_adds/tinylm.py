import torch
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.norm, self.key, self.value = nn.LayerNorm(dim), nn.Linear(dim, inner), nn.Linear(inner, dim)

    def activate(self, h):
        return torch.relu(self.key(self.norm(h)))

    def combine(self, h, act):
        return h + self.value(act)

    def forward(self, h):
        return self.combine(h, self.activate(h))


class TinyLM(nn.Module):
    def __init__(self, vocab=10, dim=12, inner=20, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(FeedForward(dim, inner) for _ in range(depth))
        self.head = nn.Linear(dim, vocab, bias=False)

    def hidden(self, prompt, upto=None):
        h = self.embed(prompt).mean(1)
        for layer in self.layers[:upto]:
            h = layer(h)
        return h

    def forward(self, prompt):
        return self.head(self.hidden(prompt))
