import torch
import torch.nn as nn


class MaskNet(nn.Module):
    """Tiny Conv-TasNet-like enhancer: encoder, dilated blocks, mask, decoder."""

    def __init__(self, channels=16, kernel=16, blocks=3):
        super().__init__()
        self.encoder = nn.Conv1d(1, channels, kernel, stride=kernel // 2, padding=kernel // 2)
        self.blocks = nn.ModuleList([
            nn.Sequential(nn.Conv1d(channels, channels, 3, padding=2 ** b, dilation=2 ** b),
                          nn.GroupNorm(1, channels), nn.PReLU())
            for b in range(blocks)])
        self.mask = nn.Conv1d(channels, channels, 1)
        self.decoder = nn.ConvTranspose1d(channels, 1, kernel, stride=kernel // 2, padding=kernel // 2)

    def forward(self, wav):
        w = self.encoder(wav.unsqueeze(1))
        h = w
        for block in self.blocks:
            h = h + block(h)
        est = self.decoder(w * torch.sigmoid(self.mask(h))).squeeze(1)
        return est[:, :wav.size(1)]
