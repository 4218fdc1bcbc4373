import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class VisionTower(nn.Module):
    def __init__(self, width, patches, embed_dim):
        super().__init__()
        self.embed = nn.Linear(6, width)
        self.pos = nn.Parameter(torch.randn(patches, width) * 0.02)
        self.block = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0., batch_first=True)
        self.proj = nn.Parameter(torch.randn(width, embed_dim) * width ** -0.5)

    def forward(self, x):
        return self.block(self.embed(x) + self.pos).mean(1) @ self.proj


class TextTower(nn.Module):
    def __init__(self, vocab, width, ctx, embed_dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.proj = nn.Parameter(torch.randn(width, embed_dim) * width ** -0.5)

    def forward(self, t):
        return self.rnn(self.embed(t))[1][0] @ self.proj


class CLIP(nn.Module):
    def __init__(self, vision, text):
        super().__init__()
        self.visual, self.text = vision, text
        # learned in log space, as in the paper
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def encode_image(self, image):
        return F.normalize(self.visual(image), dim=-1)

    def encode_text(self, text):
        return F.normalize(self.text(text), dim=-1)

    def forward(self, image, text):
        return self.encode_image(image), self.encode_text(text), self.logit_scale.exp()
