import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.norm2(x))


class TextClassifier(nn.Module):
    """Encoder mit n Schichten, Mittelung, linearer Kopf"""

    def __init__(self, vocab, n_classes, dim=16, heads=2, n_layers=4, max_len=12):
        super().__init__()
        self.config = dict(vocab=vocab, n_classes=n_classes, dim=dim, heads=heads, n_layers=n_layers, max_len=max_len)
        self.embeddings = nn.ModuleDict({"tok": nn.Embedding(vocab, dim), "pos": nn.Embedding(max_len, dim)})
        self.layers = nn.ModuleList(Block(dim, heads) for _ in range(n_layers))
        self.head = nn.Linear(dim, n_classes)

    def forward(self, tokens):
        x = self.embeddings["tok"](tokens) + self.embeddings["pos"](torch.arange(tokens.shape[1]))
        states = []
        for layer in self.layers:
            x = layer(x)
            states.append(x)
        return self.head(x.mean(1)), states


def build_student(teacher, keep):
    """DistilBERT style: the student takes over embeddings, head and every second layer of the teacher."""
    student = TextClassifier(**{**teacher.config, "n_layers": len(keep)})
    return student
