# -*- coding: utf-8 -*-
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gru = nn.GRU(dim, hidden, bidirectional=True, batch_first=True)
        self.linear = nn.Linear(2 * hidden, 1)

    def forward(self, x):
        out, _ = self.gru(x)
        return torch.sigmoid(self.linear(out))


class SoftMaskedCorrector(nn.Module):
    """e' = p * e_mask + (1 - p) * e。e_mask 就是词表里 [MASK] 那一行，和其他词向量一起微调。"""

    def __init__(self, vocab, dim, hidden, mask_id=1):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.detector = Detector(dim, hidden)
        self.corrector = nn.GRU(dim, dim, batch_first=True)
        self.mask_token_id = torch.tensor([[mask_id]])
        self.mask_e = nn.Parameter(self.embedding(self.mask_token_id).detach().clone())
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        e = self.embedding(ids)
        p = self.detector(e)
        e_ = p * self.mask_e + (1 - p) * e
        h, _ = self.corrector(e_)
        h = h + e  # 残差
        return p, self.out(h)
