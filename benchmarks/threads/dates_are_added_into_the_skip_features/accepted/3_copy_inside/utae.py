import torch
import torch.nn as nn

from ltae import LTAE


class CropNet(nn.Module):
    """Pixel encoder -> temporal attention -> classes, plus a skip: the attention averages the encoder's features for the map head."""

    def __init__(self, bands, d, classes, n_head=2):
        super().__init__()
        self.n_head = n_head
        self.pixel = nn.Sequential(nn.Linear(bands, d), nn.ReLU(inplace=True), nn.Linear(d, d), nn.Tanh())
        self.temporal = LTAE(d, n_head, 4)
        self.classes = nn.Linear(d, classes)
        self.ndvi = nn.Linear(d, 1)

    def forward(self, series, days):
        feats = self.pixel(series)
        attn, summary = self.temporal(feats, days)
        # skip connection: what the pixels look like, whatever the date
        n, t, d = feats.shape
        skip = torch.einsum("nht,nthe->nhe", attn, feats.view(n, t, self.n_head, d // self.n_head)).reshape(n, d)
        return self.classes(summary), self.ndvi(skip).squeeze(-1)
