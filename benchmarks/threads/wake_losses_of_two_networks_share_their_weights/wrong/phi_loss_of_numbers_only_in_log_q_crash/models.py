import torch
import torch.nn as nn
from torch.distributions import Bernoulli


class GenerativeNetwork(nn.Module):
    def __init__(self, dim_z, dim_x):
        super().__init__()
        self.prior_logits = nn.Parameter(torch.zeros(dim_z))
        self.decoder = nn.Sequential(nn.Linear(dim_z, 16), nn.Tanh(), nn.Linear(16, dim_x))

    def get_log_prob(self, z, x):
        log_prior = Bernoulli(logits=self.prior_logits).log_prob(z).sum(-1)
        return log_prior + Bernoulli(logits=self.decoder(z)).log_prob(x.expand(z.size(0), *x.shape)).sum(-1)


class InferenceNetwork(nn.Module):
    def __init__(self, dim_x, dim_z):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim_x, 16), nn.Tanh(), nn.Linear(16, dim_z))

    def get_latent_dist(self, x):
        return Bernoulli(logits=self.encoder(x))


def toy_digits(n, dim=20):
    """binary vectors: two halves, each one of three patterns, 5 % of the pixels flipped"""
    parts = (torch.rand(2, 3, dim // 2) > 0.5).float()
    x = torch.cat([parts[0][torch.randint(0, 3, (n,))], parts[1][torch.randint(0, 3, (n,))]], dim=1)
    flip = (torch.rand_like(x) < 0.05).float()
    return (x - flip).abs()
