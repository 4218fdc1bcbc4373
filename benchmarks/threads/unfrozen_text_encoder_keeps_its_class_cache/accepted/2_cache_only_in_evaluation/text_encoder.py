import torch
import torch.nn.functional as F
from torch import nn


def tokenize(name, length):
    codes = [(ord(c) - 96) % 27 for c in name][:length]
    return codes + [0] * (length - len(codes))


class ClipTextEncoder(nn.Module):
    """Small stand-in for the CLIP text transformer: class names -> one unit vector per class."""

    def __init__(self, names, dims, length=4, cache_feature=True):
        super().__init__()
        self.register_buffer("tokens", torch.tensor([tokenize(n, length) for n in names]))
        self.token_embedding = nn.Embedding(27, dims)
        self.positional_embedding = nn.Parameter(torch.randn(length, dims) * 0.01)
        self.attn = nn.MultiheadAttention(dims, 2, batch_first=True)
        self.ln_final = nn.LayerNorm(dims)
        self.bg_embed = nn.Parameter(torch.randn(1, dims) * dims ** -0.5)
        self.cache_feature = cache_feature
        self.cache = None
        # self._freeze()

    def _freeze(self):
        for param in self.parameters():
            param.requires_grad = False

    # @torch.no_grad()
    def encode_class(self):
        x = self.token_embedding(self.tokens) + self.positional_embedding
        x = x + self.attn(x, x, x, need_weights=False)[0]
        return self.ln_final(x).mean(dim=1)

    def forward(self):
        """All classes do not change, so the text branch runs once."""
        if self.training or self.cache is None or not self.cache_feature:
            class_embed = F.normalize(self.encode_class(), dim=-1)
            if self.cache_feature and not self.training:
                self.cache = class_embed
        else:
            class_embed = self.cache
        return class_embed
