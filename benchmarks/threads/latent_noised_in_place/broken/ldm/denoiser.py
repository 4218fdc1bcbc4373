import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent + 1, 24), nn.SiLU(), nn.Linear(24, latent))

    def forward(self, z_t, t):
        return self.net(torch.cat([z_t, t], 1))
