import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, n_in, n_z):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, 2 * n_z))
        self.decoder = nn.Sequential(nn.Linear(n_z, 24), nn.ReLU(), nn.Linear(24, n_in))

    def sample_latent(self, x):
        mean, logvar = self.encoder(x).chunk(2, 1)
        return mean + torch.exp(0.5 * logvar) * torch.randn_like(mean)

    def forward(self, x):
        mean, logvar = self.encoder(x).chunk(2, 1)
        z = mean + torch.exp(0.5 * logvar) * torch.randn_like(mean)
        return self.decoder(z), (mean, logvar), z


class Discriminator(nn.Module):
    def __init__(self, n_z, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_z, hidden), nn.LeakyReLU(0.2, True),
                                 nn.Linear(hidden, hidden), nn.LeakyReLU(0.2, True), nn.Linear(hidden, 2))

    def forward(self, z):
        return self.net(z)


def permute_dims(z):
    return torch.stack([c[torch.randperm(len(c))] for c in z.unbind(1)], 1)
