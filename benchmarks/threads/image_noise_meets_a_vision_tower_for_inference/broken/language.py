import torch
from torch import nn


class TinyLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, 2 * dim, batch_first=True)
        self.lm_head = nn.Linear(2 * dim, vocab)

    def forward(self, inputs_embeds):
        hidden, _ = self.rnn(inputs_embeds)
        return self.lm_head(hidden)
