import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    """Bag of words, two layers, unit length."""

    def __init__(self, vocab, width):
        super().__init__()
        self.words = nn.EmbeddingBag(vocab, width, mode="mean")
        self.net = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, ids):
        return F.normalize(self.net(self.words(ids)), dim=-1)


def contrastive_loss(q, d, temperature=0.1):
    """In-batch negatives; row i of d answers row i of q."""
    scores = q @ d.t() / temperature
    return F.cross_entropy(scores, torch.arange(len(q)))
