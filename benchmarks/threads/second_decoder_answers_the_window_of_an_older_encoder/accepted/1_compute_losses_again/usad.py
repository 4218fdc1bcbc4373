import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, in_size, latent_size):
        super().__init__()
        self.linear1 = nn.Linear(in_size, in_size // 2)
        self.linear2 = nn.Linear(in_size // 2, latent_size)

    def forward(self, w):
        return torch.relu(self.linear2(torch.relu(self.linear1(w))))


class Decoder(nn.Module):
    def __init__(self, latent_size, out_size):
        super().__init__()
        self.linear1 = nn.Linear(latent_size, out_size // 2)
        self.linear2 = nn.Linear(out_size // 2, out_size)

    def forward(self, z):
        return torch.sigmoid(self.linear2(torch.relu(self.linear1(z))))


class UsadModel(nn.Module):
    """One encoder, two decoders.  AE1 wants to fool AE2, AE2 wants to tell
    the windows that AE1 has reconstructed from real ones."""

    def __init__(self, w_size, z_size):
        super().__init__()
        self.encoder = Encoder(w_size, z_size)
        self.decoder1 = Decoder(z_size, w_size)
        self.decoder2 = Decoder(z_size, w_size)

    def training_step(self, batch, n):
        z = self.encoder(batch)
        w1 = self.decoder1(z)
        w2 = self.decoder2(z)
        w3 = self.decoder2(self.encoder(w1))
        loss1 = 1 / n * torch.mean((batch - w1) ** 2) + (1 - 1 / n) * torch.mean((batch - w3) ** 2)
        loss2 = 1 / n * torch.mean((batch - w2) ** 2) - (1 - 1 / n) * torch.mean((batch - w3) ** 2)
        return loss1, loss2

    @torch.no_grad()
    def score(self, batch, alpha=.5, beta=.5):
        w1 = self.decoder1(self.encoder(batch))
        w2 = self.decoder2(self.encoder(w1))
        return alpha * torch.mean((batch - w1) ** 2, dim=1) + beta * torch.mean((batch - w2) ** 2, dim=1)
