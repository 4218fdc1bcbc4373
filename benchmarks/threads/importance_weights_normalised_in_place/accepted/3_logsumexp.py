"""Importance weighted autoencoder on binary patterns."""
import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1265)
LOG2PI = math.log(2 * math.pi)


class IWAE(nn.Module):

    def __init__(self, in_dim=20, latent_dim=4, hidden=24, num_samples=8):
        super().__init__()
        self.num_samples = num_samples
        self.encoder = nn.Sequential(nn.Linear(in_dim, hidden), nn.Tanh(), nn.Linear(hidden, 2 * latent_dim))
        self.decoder = nn.Sequential(nn.Linear(latent_dim, hidden), nn.Tanh(), nn.Linear(hidden, in_dim))

    def log_weights(self, x):
        """log p(x, z_k) - log q(z_k | x), one row per sample."""
        mu, log_var = self.encoder(x).chunk(2, dim=-1)
        std = torch.exp(0.5 * log_var)
        eps = torch.randn(self.num_samples, *mu.shape)
        z = mu + std * eps
        log_q = (-0.5 * eps ** 2 - 0.5 * log_var - 0.5 * LOG2PI).sum(-1)
        log_prior = (-0.5 * z ** 2 - 0.5 * LOG2PI).sum(-1)
        logits = self.decoder(z)
        log_lik = -F.binary_cross_entropy_with_logits(logits, x.expand_as(logits), reduction="none").sum(-1)
        return log_lik + log_prior - log_q

    def loss_function(self, x):
        log_w = self.log_weights(x)
        # Eq. (14) of Burda et al.: the gradient of the bound is the sum over k of w~_k * grad log w_k
        return -(torch.logsumexp(log_w, dim=0) - math.log(self.num_samples)).mean()

    @torch.no_grad()
    def bound(self, x):
        log_w = self.log_weights(x)
        return (torch.logsumexp(log_w, dim=0) - math.log(self.num_samples)).mean().item()


patterns = torch.rand(5, 20).round()
data = (patterns[torch.randint(0, 5, (128,))] + (torch.rand(128, 20) < 0.08).float()) % 2
model = IWAE()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)
for epoch in range(5):
    for x in data.split(32):
        loss = model.loss_function(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(f"epoch {epoch} bound {model.bound(data):.5f}")
