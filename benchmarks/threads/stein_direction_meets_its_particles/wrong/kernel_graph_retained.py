"""Amortised SVGD: a sampler network is moved along the Stein direction of a two-moon posterior."""
import math

import torch
import torch.nn as nn
from torch import autograd


class TwoModes:
    """An unnormalised posterior with two banana-shaped modes."""

    def log_prob(self, x):
        a = -0.5 * (((x[:, 0] - 1.5) / 0.6) ** 2 + ((x[:, 1] - 0.3 * x[:, 0] ** 2) / 0.4) ** 2)
        b = -0.5 * (((x[:, 0] + 1.5) / 0.6) ** 2 + ((x[:, 1] + 0.3 * x[:, 0] ** 2) / 0.4) ** 2)
        return torch.logaddexp(a, b)


class RBF(nn.Module):
    def __init__(self, sigma=None):
        super().__init__()
        self.sigma = sigma

    def forward(self, X, Y):
        sq = ((X.unsqueeze(1) - Y.unsqueeze(0)) ** 2).sum(-1)
        if self.sigma is None:
            h = sq.detach().median().item() / (2 * math.log(X.size(0) + 1))
        else:
            h = self.sigma ** 2
        return torch.exp(-sq / (2 * h + 1e-8))


class Sampler(nn.Module):
    def __init__(self, noise_dim, hidden):
        super().__init__()
        self.noise_dim = noise_dim
        self.net = nn.Sequential(nn.Linear(noise_dim, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, n):
        return self.net(torch.randn(n, self.noise_dim))


class AmortizedSVGD:
    def __init__(self, P, K, sampler, optimizer, decay=1e-3):
        self.P, self.K, self.sampler, self.optim, self.decay = P, K, sampler, optimizer, decay

    def phi(self, X):
        """Stein direction at the particles X: attraction + repulsion."""
        score = autograd.grad(self.P.log_prob(X).sum(), X)[0]
        K_XX = self.K(X, X.detach())
        grad_K = -autograd.grad(K_XX.sum(), X, retain_graph=True)[0]
        return (K_XX.matmul(score) + grad_K) / X.size(0)

    def step(self, n):
        X = self.sampler(n)
        direction = self.phi(X)
        # dL/dtheta = -(dX/dtheta)^T phi(X)
        loss = -(X * direction).sum()
        loss = loss + self.decay * sum((w ** 2).sum() for w in self.sampler.parameters())
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return loss.item(), direction.norm().item()


def main(n=20, steps=8):
    torch.manual_seed(42)
    sampler = Sampler(3, 16)
    optimizer = torch.optim.Adam(sampler.parameters(), lr=1e-2)
    svgd = AmortizedSVGD(TwoModes(), RBF(), sampler, optimizer)
    for i in range(steps):
        loss, norm = svgd.step(n)
        if i % 2 == 1:
            print("step {} loss {:.6f} |phi| {:.6f}".format(i, loss, norm))
    with torch.no_grad():
        print("spread", round(sampler(100).std(0).mean().item(), 5))


if __name__ == "__main__":
    main()
