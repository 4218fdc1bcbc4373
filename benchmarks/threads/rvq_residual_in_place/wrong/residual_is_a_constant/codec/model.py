import torch
from torch import nn

from .quantization import ResidualVectorQuantization


class Codec(nn.Module):
    def __init__(self, dim=6, n_q=3, bins=12, ch=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(1, ch, 7, 2, 3), nn.ELU(), nn.Conv1d(ch, dim, 4, 2, 1))
        self.quantizer = ResidualVectorQuantization(dim, n_q, bins)
        self.decoder = nn.Sequential(nn.ConvTranspose1d(dim, ch, 4, 2, 1), nn.ELU(), nn.ConvTranspose1d(ch, 1, 4, 2, 1))

    def forward(self, wav):
        z = self.encoder(wav).transpose(1, 2)
        q, codes, commit, codebook = self.quantizer(z)
        return self.decoder(q.transpose(1, 2)), z, codes, commit, codebook
