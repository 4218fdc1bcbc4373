from torch import nn
import torch.nn.functional as F

from bottleneck import Bottleneck


class ResConv(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.conv = nn.Conv1d(c, c, 3, padding=dilation, dilation=dilation)
        self.proj = nn.Conv1d(c, c, 1)

    def forward(self, x):
        return x + self.proj(F.elu(self.conv(F.elu(x))))


class AudioVQVAE(nn.Module):
    def __init__(self, width=8, dim=6, n_codes=16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, width, 4, 2, 1), ResConv(width, 1), nn.Conv1d(width, dim, 4, 2, 1), nn.Tanh())
        self.bottleneck = Bottleneck(n_codes, dim)
        self.decoder = nn.Sequential(
            nn.ConvTranspose1d(dim, width, 4, 2, 1), ResConv(width, 1), nn.ConvTranspose1d(width, 1, 4, 2, 1))

    def forward(self, x):
        q, vq_loss, idx = self.bottleneck(self.encoder(x))
        return self.decoder(q), vq_loss, idx
