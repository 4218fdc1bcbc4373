import torch
from torch import nn


class History(nn.Module):
    """Last known embedding of every node after one layer."""

    def __init__(self, num_embeddings, embedding_dim):
        super().__init__()
        self.register_buffer("emb", torch.zeros(num_embeddings, embedding_dim))

    def reset(self):
        self.emb = torch.zeros_like(self.emb)

    def pull(self, n_id):
        return self.emb[n_id]

    def push(self, x, n_id):
        assert n_id.numel() == x.size(0)
        self.emb[n_id] = x
