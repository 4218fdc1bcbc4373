import math

import torch
from torch import nn
import torch.nn.functional as F


class LatentDiffusion(nn.Module):
    def __init__(self, autoencoder, denoiser):
        super().__init__()
        self.ae, self.denoiser = autoencoder, denoiser

    def q_sample(self, z, t, noise):
        alpha, sigma = torch.cos(t * math.pi / 2), torch.sin(t * math.pi / 2)
        z_t = z.mul_(alpha).add_(sigma * noise)
        return z_t, alpha, sigma

    def forward(self, x):
        z = self.ae.encoder(x).clone()
        rec = F.mse_loss(self.ae.decoder(z + 0.01 * torch.randn_like(z)), x)
        t, noise = torch.rand(len(x), 1), torch.randn_like(z)
        z_t, alpha, sigma = self.q_sample(z, t, noise)
        velocity = alpha * noise - sigma * z
        dif = F.mse_loss(self.denoiser(z_t, t), velocity)
        return {"loss": rec + 0.5 * dif, "rec": rec, "dif": dif}
