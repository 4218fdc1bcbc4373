import torch
from torch import nn
import torch.nn.functional as F


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class LatentModel(nn.Module):
    """Encoder, Dynamik und Kostenkopf"""

    def __init__(self, obs_dim, act_dim=2, latent=6, hidden=24):
        super().__init__()
        self.encoder = mlp([obs_dim, hidden, latent])
        self.dynamics = mlp([latent + act_dim, hidden, latent])
        self.cost_head = mlp([latent, hidden, 1])
        self.act_dim = act_dim

    def encode(self, obs):
        return torch.tanh(self.encoder(obs))

    def next(self, z, a):
        return torch.tanh(z + self.dynamics(torch.cat([z, a], -1)))

    def cost(self, z):
        return F.softplus(self.cost_head(z)).squeeze(-1)

    def loss(self, z, action, next_obs, cost):
        """one-step consistency in latent space, and the cost that was really paid"""
        z1 = self.next(z, action)
        with torch.no_grad():
            target = self.encode(next_obs)
        consistency = F.mse_loss(z1, target)
        cost_loss = F.mse_loss(self.cost(z1), cost)
        return consistency + cost_loss, {"consistency": consistency.item(), "cost": cost_loss.item()}
