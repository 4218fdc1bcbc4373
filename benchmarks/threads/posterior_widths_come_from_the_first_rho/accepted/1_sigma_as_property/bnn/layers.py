import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesLinear(nn.Module):
    """Linear layer with a factorised Gaussian posterior (Bayes by Backprop)."""

    def __init__(self, n_in, n_out, prior_std, rho_init=-4.0):
        super().__init__()
        self.prior_std = prior_std
        self.weight_mu = nn.Parameter(torch.empty(n_out, n_in))
        self.weight_rho = nn.Parameter(torch.full((n_out, n_in), rho_init))
        self.bias_mu = nn.Parameter(torch.zeros(n_out))
        self.bias_rho = nn.Parameter(torch.full((n_out,), rho_init))
        nn.init.kaiming_uniform_(self.weight_mu, a=math.sqrt(5))

    @property
    def weight_sigma(self):
        # sigma = log(1 + exp(rho))
        return torch.log1p(torch.exp(self.weight_rho))

    @property
    def bias_sigma(self):
        return torch.log1p(torch.exp(self.bias_rho))

    def forward(self, x):
        weight = self.weight_mu + self.weight_sigma * torch.randn_like(self.weight_mu)
        bias = self.bias_mu + self.bias_sigma * torch.randn_like(self.bias_mu)
        return F.linear(x, weight, bias)

    def kl(self):
        return (self._kl(self.weight_mu, self.weight_sigma)
                + self._kl(self.bias_mu, self.bias_sigma))

    def _kl(self, mu, sigma):
        var_ratio = (sigma / self.prior_std) ** 2
        return 0.5 * (var_ratio + (mu / self.prior_std) ** 2 - 1 - torch.log(var_ratio)).sum()
