import torch
import torch.nn as nn
import torch.nn.functional as F


class Vision(nn.Module):
    """V: VAE, compresses a frame into a code z."""

    def __init__(self, pixels=64, latent=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(pixels, 48), nn.ReLU(), nn.Linear(48, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 48), nn.ReLU(), nn.Linear(48, pixels))

    def encode(self, frames):
        mu, logvar = self.enc(frames).chunk(2, dim=-1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return z, mu, logvar

    def loss(self, frames, z, mu, logvar, beta=0.02):
        rec = ((self.dec(z) - frames) ** 2).sum(-1).mean()
        kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(-1).mean()
        return rec + beta * kl


class Memory(nn.Module):
    """M: predicts the distribution of the next code from codes and actions."""

    def __init__(self, latent=6, actions=3, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(latent + actions, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2 * latent)

    def forward(self, z, a):
        h, _ = self.rnn(torch.cat([z, a], dim=-1))
        mean, log_std = self.out(h).chunk(2, dim=-1)
        return mean, log_std.clamp(-3, 2)

    def loss(self, z, a):
        mean, log_std = self(z[:, :-1], a)
        nll = 0.5 * ((z[:, 1:] - mean) / log_std.exp()) ** 2 + log_std
        return nll.sum(-1).mean()
