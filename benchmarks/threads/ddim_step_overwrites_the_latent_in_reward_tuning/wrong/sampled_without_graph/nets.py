import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Denoiser(nn.Module):
    def __init__(self, dim=2, width=48, t_dim=8):
        super().__init__()
        self.t_dim = t_dim
        self.inp = nn.Linear(dim, width)
        self.temb = nn.Linear(t_dim, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, dim)

    def embed(self, t):
        half = self.t_dim // 2
        freq = torch.exp(-math.log(100.0) * torch.arange(half) / half)
        arg = t.float()[:, None] * freq
        return torch.cat([arg.sin(), arg.cos()], dim=-1)

    def forward(self, x, t):
        h = F.silu(self.inp(x) + self.temb(self.embed(t)))
        h = F.silu(self.mid(h)) + h
        return self.out(h)


class Reward(nn.Module):
    """Prefers samples near a ring of radius one, right half a bit more."""

    def forward(self, x):
        return -(x.norm(dim=-1) - 1.0).pow(2) + 0.2 * torch.tanh(x[:, 0])


def pretrain(net, schedule, steps):
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(steps):
        x0 = torch.randn(64, 2) * 0.3 + torch.tensor([0.5, -0.5])
        eps = torch.randn_like(x0)
        t = torch.randint(0, schedule.n, (64,))
        loss = F.mse_loss(net(schedule.add_noise(x0, eps, t), t), eps)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()
