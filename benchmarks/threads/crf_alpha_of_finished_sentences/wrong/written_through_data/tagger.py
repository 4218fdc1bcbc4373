import torch
import torch.nn as nn
from crf import CRF


class Tagger(nn.Module):
    def __init__(self, vocab, n_tags, dim=12, hidden=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, hidden, 3, padding=1)
        self.out = nn.Linear(hidden, n_tags)
        self.crf = CRF(n_tags)

    def emissions(self, words):
        h = torch.relu(self.conv(self.emb(words).transpose(1, 2))).transpose(1, 2)
        return self.out(h)

    def neg_log_likelihood(self, words, tags, mask):
        em = self.emissions(words)
        return (self.crf.log_partition(em, mask) - self.crf.score(em, tags, mask)).mean()
