import torch
from torch import nn
import torch.nn.functional as F


class RBM(nn.Module):
    """Bernoulli-Bernoulli restricted Boltzmann machine."""

    def __init__(self, n_vis, n_hid, k=1, momentum=0.5):
        super().__init__()
        self.W = nn.Parameter(torch.randn(n_hid, n_vis) * 0.1, requires_grad=False)
        self.v_bias = nn.Parameter(torch.zeros(n_vis), requires_grad=False)
        self.h_bias = nn.Parameter(torch.zeros(n_hid), requires_grad=False)
        self.k = k
        self.momentum = momentum
        self.W_momentum = torch.zeros(n_hid, n_vis)

    def prop_up(self, v):
        return torch.sigmoid(F.linear(v, self.W, self.h_bias))

    def prop_down(self, h):
        return torch.sigmoid(F.linear(h, self.W.t(), self.v_bias))

    def forward(self, v):
        return self.prop_up(v)

    def contrastive_divergence(self, v0, lr):
        """One CD-k update on a batch; returns the reconstruction error"""
        ph0 = self.prop_up(v0)
        h = torch.bernoulli(ph0)
        for _ in range(self.k):
            pv = self.prop_down(h)
            v = torch.bernoulli(pv)
            ph = self.prop_up(v)
            h = torch.bernoulli(ph)

        n = v0.shape[0]
        self.W_momentum = self.momentum * self.W_momentum + (ph0.t() @ v0 - ph.t() @ v) / n
        self.W += lr * self.W_momentum
        self.v_bias += lr * (v0 - v).mean(0)
        self.h_bias += lr * (ph0 - ph).mean(0)
        return ((v0 - pv) ** 2).mean().item()
