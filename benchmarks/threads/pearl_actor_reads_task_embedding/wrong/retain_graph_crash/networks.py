import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(sizes, act=nn.ReLU):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(act())
    return nn.Sequential(*layers)


class ContextEncoder(nn.Module):
    """q(z|c): product of gaussian factors, one per transition of the context."""

    def __init__(self, in_dim, latent_dim, hidden=24):
        super().__init__()
        self.latent_dim = latent_dim
        self.net = mlp([in_dim, hidden, 2 * latent_dim])

    def forward(self, context):
        mu, pre = self.net(context).chunk(2, dim=-1)
        var = F.softplus(pre).clamp(min=1e-7)
        post_var = 1.0 / (1.0 / var).sum(dim=1)
        post_mu = post_var * (mu / var).sum(dim=1)
        return post_mu, post_var

    def infer_posterior(self, context):
        mu, var = self.forward(context)
        z = mu + var.sqrt() * torch.randn_like(mu)
        kl = 0.5 * (var + mu ** 2 - 1.0 - var.log()).sum(dim=-1).mean()
        return z, kl


class TanhPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim, latent_dim):
        super().__init__()
        self.trunk = mlp([obs_dim + latent_dim, 32, 2 * act_dim])

    def sample(self, obs, z):
        mean, log_std = self.trunk(torch.cat([obs, z], -1)).chunk(2, -1)
        std = log_std.clamp(-5, 1).exp()
        pre = mean + std * torch.randn_like(mean)
        act = torch.tanh(pre)
        logp = (-0.5 * ((pre - mean) / std) ** 2 - std.log() - torch.log(1 - act ** 2 + 1e-6)).sum(-1, keepdim=True)
        return act, logp


class QNet(nn.Module):
    def __init__(self, obs_dim, act_dim, latent_dim):
        super().__init__()
        self.q = mlp([obs_dim + act_dim + latent_dim, 32, 1])

    def forward(self, obs, act, z):
        return self.q(torch.cat([obs, act, z], -1))
