import torch
import torch.nn as nn
import torch.nn.functional as F

from pairs import tokenize


class SentenceEncoder(nn.Module):
    """Word vectors -> self attention -> masked mean -> dense"""

    def __init__(self, n_words, dim):
        super().__init__()
        self.words = nn.Embedding(n_words, dim, padding_idx=0)
        self.attention = nn.MultiheadAttention(dim, 2, bias=False, batch_first=True)
        self.dense = nn.Linear(dim, dim)

    def forward(self, ids):
        pad = ids == 0
        h = self.words(ids)
        a, _ = self.attention(h, h, h, key_padding_mask=pad, need_weights=False)
        h = (h + a).masked_fill(pad[..., None], 0.0)
        mean = h.sum(1) / (~pad).sum(1, keepdim=True)
        return torch.tanh(self.dense(mean))

    @torch.no_grad()
    def encode(self, sentences, batch_size=8, normalize=True):
        """Embeddings of a list of sentences, for search and clustering"""
        out = []
        for i in range(0, len(sentences), batch_size):
            emb = self(tokenize(sentences[i:i + batch_size]))
            if normalize:
                emb = F.normalize(emb, dim=-1)
            out.append(emb)
        return torch.cat(out)
