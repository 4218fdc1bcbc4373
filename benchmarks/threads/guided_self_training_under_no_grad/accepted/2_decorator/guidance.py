import torch
import torch.nn as nn
import torch.nn.functional as F

from diffusion import time_embedding


class NoisyClassifier(nn.Module):
    """classifies x_t, knows t"""

    def __init__(self, T, n_classes, hidden=32):
        super().__init__()
        self.T = T
        self.net = nn.Sequential(nn.Linear(5, hidden), nn.SiLU(), nn.Linear(hidden, n_classes))

    def forward(self, x, t):
        return self.net(torch.cat([x, time_embedding(t, self.T)], -1))


def make_cond_fn(classifier, scale):
    @torch.enable_grad()
    def cond_fn(x, t, y):
        # gradient of log p(y | x_t)
        x_in = x.clone().requires_grad_(True)
        log_probs = F.log_softmax(classifier(x_in, t), dim=-1)
        selected = log_probs[range(len(y)), y]
        return scale * torch.autograd.grad(selected.sum(), x_in)[0]

    return cond_fn
