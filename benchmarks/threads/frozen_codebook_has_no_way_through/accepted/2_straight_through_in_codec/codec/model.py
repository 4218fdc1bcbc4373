import torch
from torch import nn

from .quantizer import EMAQuantizer


class Codec(nn.Module):
    def __init__(self, frame, dim, codes, hidden=40):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(frame, hidden), nn.ELU(), nn.Linear(hidden, dim))
        self.quantizer = EMAQuantizer(codes, dim)
        self.decoder = nn.Sequential(nn.Linear(dim, hidden), nn.ELU(), nn.Linear(hidden, frame))

    def tokens(self, x):
        return self.quantizer.nearest(self.encoder(x))

    def forward(self, x):
        z = self.encoder(x)
        z_q, commit, idx = self.quantizer(z)
        if not self.quantizer.training:
            z_q = z + (z_q - z).detach()
        return self.decoder(z_q), commit, idx
