import torch
import torch.nn as nn
import torch.nn.functional as F


class InstanceBank(nn.Module):
    """one slowly moving feature per training sample"""

    def __init__(self, n_samples, dim, momentum=0.5):
        super().__init__()
        self.momentum = momentum
        self.register_buffer('features', F.normalize(torch.randn(n_samples, dim), dim=1))

    def forward(self):
        return self.features

    def update(self, idx, q):
        mixed = self.momentum * self.features[idx] + (1. - self.momentum) * q
        features = self.features.clone()
        features[idx] = F.normalize(mixed, dim=1)
        self.features = features
