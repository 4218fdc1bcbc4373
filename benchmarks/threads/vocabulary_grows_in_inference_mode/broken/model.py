import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyLM(nn.Module):
    """One GRU, input embedding and lm_head of their own."""

    def __init__(self, vocab, dim):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        h, _ = self.rnn(self.embed_tokens(ids))
        return self.lm_head(torch.tanh(h))

    def loss(self, ids):
        logits = self(ids[:, :-1])
        return F.cross_entropy(logits.reshape(-1, logits.size(-1)), ids[:, 1:].reshape(-1))
