import torch
import torch.nn as nn

from .layers import BayesLinear


class BayesianMLP(nn.Module):
    def __init__(self, sizes, prior_std):
        super().__init__()
        self.layers = nn.ModuleList(
            [BayesLinear(a, b, prior_std) for a, b in zip(sizes[:-1], sizes[1:])])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)

    def kl(self):
        return sum(layer.kl() for layer in self.layers)
