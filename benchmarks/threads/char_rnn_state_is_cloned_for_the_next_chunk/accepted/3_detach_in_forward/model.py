# -*- coding: utf-8 -*-
import torch
import torch.nn as nn


class CharRNN(nn.Module):
    def __init__(self, vocab_size, embed_size=12, hidden_size=32, num_layers=2):
        super(CharRNN, self).__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.encoder = nn.Embedding(vocab_size, embed_size)
        self.gru = nn.GRU(embed_size, hidden_size, num_layers, batch_first=True)
        self.decoder = nn.Linear(hidden_size, vocab_size)

    def init_hidden(self, batch_size):
        return torch.zeros(self.num_layers, batch_size, self.hidden_size)

    def forward(self, x, hidden):
        emb = self.encoder(x)
        out, hidden = self.gru(emb, hidden.detach())
        logits = self.decoder(out)
        return logits, hidden
