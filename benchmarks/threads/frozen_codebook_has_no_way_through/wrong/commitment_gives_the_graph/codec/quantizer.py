import torch
import torch.nn.functional as F
from torch import nn


class EMAQuantizer(nn.Module):
    """Vector quantiser whose codebook follows the encoder by exponential moving averages."""

    def __init__(self, codes, dim, decay=0.95, eps=1e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        self.register_buffer("codebook", 0.3 * torch.randn(codes, dim))
        self.register_buffer("count", torch.ones(codes))
        self.register_buffer("total", self.codebook.clone())

    def nearest(self, z):
        return torch.cdist(z, self.codebook).argmin(dim=-1)

    @torch.no_grad()
    def _follow(self, z, idx):
        one_hot = F.one_hot(idx, len(self.codebook)).type_as(z)
        self.count.mul_(self.decay).add_(one_hot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(one_hot.t() @ z, alpha=1 - self.decay)
        self.codebook.copy_(self.total / (self.count + self.eps).unsqueeze(1))

    def forward(self, z):
        idx = self.nearest(z)
        z_q = F.embedding(idx, self.codebook)
        commit = F.mse_loss(z, z_q)
        if self.training:
            self._follow(z, idx)
            # straight-through
            z_q = z + (z_q - z).detach()
        return z_q, commit, idx
