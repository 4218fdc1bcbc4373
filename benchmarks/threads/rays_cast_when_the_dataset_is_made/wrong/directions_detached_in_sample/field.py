import torch
from torch import nn


def encode(x, n_freq=3):
    parts = [x]
    for k in range(n_freq):
        parts += [torch.sin(2 ** k * x), torch.cos(2 ** k * x)]
    return torch.cat(parts, -1)


class TinyField(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(21, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma = nn.Linear(width, 1)
        self.rgb = nn.Linear(width, 3)

    def forward(self, pts):
        h = self.body(encode(pts))
        return nn.functional.softplus(self.sigma(h)).squeeze(-1), torch.sigmoid(self.rgb(h))


def render(field, origins, dirs, n_samples, near=0.5, far=3.0):
    t = torch.linspace(near, far, n_samples)
    pts = origins.unsqueeze(1) + dirs.unsqueeze(1) * t.view(1, -1, 1)
    sigma, rgb = field(pts)
    alpha = 1 - torch.exp(-sigma * (far - near) / n_samples)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha[:, :-1] + 1e-8], 1), 1)
    return ((alpha * trans).unsqueeze(-1) * rgb).sum(1)
