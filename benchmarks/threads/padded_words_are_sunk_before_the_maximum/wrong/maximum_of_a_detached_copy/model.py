# -*- coding: utf-8 -*-
import torch
import torch.nn as nn

from pooling import Pooling


class SentenceEncoder(nn.Module):
    def __init__(self, vocab, emb=16, hidden=12, out=16, pool='mean+max'):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.project = nn.Sequential(nn.Linear(2 * hidden, out), nn.Tanh())
        self.pool = Pooling(pool)
        self.out_dim = out * len(pool.split('+'))

    def forward(self, ids):
        states, _ = self.lstm(self.embedding(ids))
        return self.pool(self.project(states), ids != 0)


class PairClassifier(nn.Module):
    """InferSent: [u, v, |u-v|, u*v] -> MLP"""

    def __init__(self, vocab, pool):
        super().__init__()
        self.encoder = SentenceEncoder(vocab, pool=pool)
        self.mlp = nn.Sequential(nn.Linear(4 * self.encoder.out_dim, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, a, b):
        u, v = self.encoder(a), self.encoder(b)
        return self.mlp(torch.cat([u, v, (u - v).abs(), u * v], dim=1))
