import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ImageTower(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(inplace=True),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(inplace=True),
        )
        self.proj = nn.Linear(16 * 9, embed_dim, bias=False)

    def forward(self, images):
        return self.proj(self.features(images).flatten(1))


class TextTower(nn.Module):
    def __init__(self, vocab_size, width, embed_dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.proj = nn.Linear(width, embed_dim, bias=False)

    def forward(self, tokens):
        _, h = self.gru(self.token_embedding(tokens))
        return self.proj(h[-1])


class MiniCLIP(nn.Module):
    def __init__(self, vocab_size=40, width=16, embed_dim=16, init_temperature=0.5):
        super().__init__()
        self.visual = ImageTower(embed_dim)
        self.text = TextTower(vocab_size, width, embed_dim)
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(1 / init_temperature))

    def forward(self, images, tokens):
        image_features = F.normalize(self.visual(images), dim=-1)
        text_features = F.normalize(self.text(tokens), dim=-1)
        return image_features, text_features, self.logit_scale.exp()


def clip_loss(image_features, text_features, logit_scale):
    logits = logit_scale * image_features @ text_features.t()
    labels = torch.arange(len(logits))
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
