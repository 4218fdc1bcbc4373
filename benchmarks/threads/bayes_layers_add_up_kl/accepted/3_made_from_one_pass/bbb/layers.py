import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesLinear(nn.Module):
    """Linear layer with a factorised Gaussian over weights and bias (prior: N(0, prior_sigma))."""

    def __init__(self, n_in, n_out, prior_sigma=1.0):
        super().__init__()
        self.prior_sigma = prior_sigma
        self.w_mu = nn.Parameter(torch.randn(n_out, n_in) * 0.3)
        self.w_rho = nn.Parameter(torch.full((n_out, n_in), -3.0))
        self.b_mu = nn.Parameter(torch.zeros(n_out))
        self.b_rho = nn.Parameter(torch.full((n_out,), -3.0))
        self.kl = 0

    def _kl(self, mu, sigma):
        s = self.prior_sigma
        return (torch.log(s / sigma) + (sigma ** 2 + mu ** 2) / (2 * s ** 2) - 0.5).sum()

    def forward(self, x):
        w_sigma, b_sigma = F.softplus(self.w_rho), F.softplus(self.b_rho)
        w = self.w_mu + w_sigma * torch.randn_like(w_sigma)
        b = self.b_mu + b_sigma * torch.randn_like(b_sigma)
        self.kl = self._kl(self.w_mu, w_sigma) + self._kl(self.b_mu, b_sigma)
        return F.linear(x, w, b)
