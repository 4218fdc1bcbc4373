"""Learning to rank with soft ranks whose forward and vjp are written in numpy; smoothness penalty on the inputs."""
import numpy as np
import torch
import torch.nn as nn

STRENGTH = 0.3
PENALTY = 0.5


class NumpySoftRank:
    """rank_i = 1/2 + sum_j sigmoid((v_i - v_j) / strength) for every row."""

    def __init__(self, values, strength):
        self.strength = strength
        d = (values[:, :, None] - values[:, None, :]) / strength
        self.s = 1.0 / (1.0 + np.exp(-d))

    def compute(self):
        return self.s.sum(axis=2) + 0.5

    def vjp(self, g):
        w = self.s * (1.0 - self.s) / self.strength
        return g * w.sum(axis=2) - np.einsum("bj,bji->bi", g, w)


def wrap_class(cls, **kwargs):
    class NumpyOpWrapper(torch.autograd.Function):
        @staticmethod
        def forward(ctx, values):
            obj = cls(values.detach().numpy(), **kwargs)
            ctx.numpy_obj = obj
            return torch.from_numpy(obj.compute())

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad_output):
            return torch.from_numpy(ctx.numpy_obj.vjp(grad_output.numpy()))

    return NumpyOpWrapper


def soft_rank(values, strength=STRENGTH):
    return wrap_class(NumpySoftRank, strength=strength).apply(values)


class Scorer(nn.Module):
    def __init__(self, features=5, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, 1, bias=False))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def spearman_loss(scores, target_ranks):
    return 0.5 * ((soft_rank(scores) - target_ranks) ** 2).mean()


def evaluate(model, x, ranks):
    with torch.no_grad():
        order = model(x).argsort(dim=1).argsort(dim=1).float() + 1
    centred = [r - r.mean(dim=1, keepdim=True) for r in (order, ranks)]
    return ((centred[0] * centred[1]).sum(1) / (centred[0].norm(dim=1) * centred[1].norm(dim=1))).mean().item()


torch.manual_seed(31)
model = Scorer()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
relevance = torch.randn(5)
x_all = torch.randn(80, 8, 5)
rank_all = (torch.sin(x_all) @ relevance + 0.1 * torch.randn(80, 8)).argsort(1).argsort(1).float() + 1
for epoch in range(5):
    for x, ranks in zip(x_all[:64].split(16), rank_all[:64].split(16)):
        x = x.clone().requires_grad_()
        loss = spearman_loss(model(x), ranks)
        # a small change of a document must not change the loss much
        slope, = torch.autograd.grad(loss, x, create_graph=True)
        penalty = (slope * len(x)).pow(2).sum(dim=(1, 2)).mean()
        total = loss + PENALTY * penalty
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.5f} penalty {penalty.item():.5f} spearman {evaluate(model, x_all[64:], rank_all[64:]):.4f}")
