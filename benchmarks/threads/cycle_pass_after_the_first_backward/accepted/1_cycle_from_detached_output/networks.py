import torch
from torch import nn


class AgeNet(nn.Module):
    def __init__(self, pixels, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels + 1, 16), nn.LeakyReLU(0.2), nn.Linear(16, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 16), nn.LeakyReLU(0.2), nn.Linear(16, pixels))

    def forward(self, x):
        latent = self.encoder(x)
        return self.decoder(latent), latent


def estimate_age(x):
    """frozen age classifier: here simply the contrast"""
    return x[:, :6].mean(1) - x[:, 6:].mean(1)
