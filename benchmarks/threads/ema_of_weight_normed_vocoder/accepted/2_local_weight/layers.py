import torch
import torch.nn as nn
import torch.nn.functional as F


class WNConv1d(nn.Module):
    """Weight = g * v / |v|; computed anew before every forward."""

    def __init__(self, cin, cout, k):
        super().__init__()
        self.v = nn.Parameter(torch.randn(cout, cin, k) * 0.3)
        self.g = nn.Parameter(self.v.detach().flatten(1).norm(dim=1).view(-1, 1, 1))
        self.bias = nn.Parameter(torch.zeros(cout))

    def compute_weight(self):
        return self.g * self.v / self.v.flatten(1).norm(dim=1).view(-1, 1, 1)

    def forward(self, x):
        weight = self.compute_weight()
        return F.conv1d(x, weight, self.bias, padding=weight.shape[-1] // 2)


class Vocoder(nn.Module):
    def __init__(self, mels=3, hid=8):
        super().__init__()
        self.layers = nn.ModuleList([WNConv1d(mels, hid, 3), WNConv1d(hid, 1, 3)])

    def forward(self, mel):
        return torch.tanh(self.layers[1](F.leaky_relu(self.layers[0](mel), 0.1)))
