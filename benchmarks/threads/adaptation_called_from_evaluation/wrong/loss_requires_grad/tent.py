import torch
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2))


def softmax_entropy(x):
    return -(x.softmax(1) * x.log_softmax(1)).sum(1)


class Tent(nn.Module):
    """Adapts the affine parameters of the normalisation to what it is shown."""

    def __init__(self, model):
        super().__init__()
        self.model = model.train()
        model.requires_grad_(False)
        bn = model[1].requires_grad_(True)
        bn.track_running_stats, bn.running_mean, bn.running_var = False, None, None
        self.optimizer = torch.optim.Adam(bn.parameters(), lr=0.05)

    def forward(self, x):
        outputs = self.model(x)
        loss = softmax_entropy(outputs).mean(0)
        loss.requires_grad_().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.last_entropy = loss.item()
        return outputs
