from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, dim=12, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 16), nn.SiLU(), nn.Linear(16, latent), nn.Tanh())
        self.decoder = nn.Sequential(nn.Linear(latent, 16), nn.SiLU(), nn.Linear(16, dim))
