"""Mixture of von Mises-like bumps for daily activity times, maximum likelihood with projected gradient:
weights live on the simplex themselves (no softmax), after every step they are projected back."""
import math

import numpy as np
import torch
from torch import nn


class CircularMixture(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.pi = nn.Parameter(torch.full((k,), 1.0 / k))
        self.mu = nn.Parameter(torch.linspace(-2.5, 2.5, k))
        self.log_kappa = nn.Parameter(torch.zeros(k))

    def log_prob(self, x):
        kappa = self.log_kappa.exp()
        log_norm = math.log(2 * math.pi) + torch.log(torch.special.i0e(kappa)) + kappa
        comp = kappa * torch.cos(x[:, None] - self.mu) - log_norm
        return torch.logsumexp(comp + self.pi.log(), dim=1)

    def project(self, floor=0.02):
        # back to the simplex
        self.pi = self.pi.clamp(min=floor) / self.pi.clamp(min=floor).sum()

    def summary(self):
        rows = zip(self.pi.tolist(), self.mu.tolist(), self.log_kappa.exp().tolist())
        return "  ".join("%.4f@%.4f(%.4f)" % r for r in rows)


class Fit:
    def __init__(self, model, lr=0.05, momentum=0.5, verbose=True):
        self.model, self.verbose = model, verbose
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)
        self.trace = []

    def __call__(self, x, iters):
        for i in range(iters):
            self.opt.zero_grad()
            nll = -self.model.log_prob(x).mean()
            nll.backward()
            self.opt.step()
            self.model.project()
            self.trace.append(nll.item())
            if self.verbose and i % 3 == 0:
                print(i, "nll", round(nll.item(), 6), "sum pi", round(self.model.pi.sum().item(), 5))
        return self


def activity(n, rng):
    z = rng.random(n) < 0.7
    x = np.where(z, rng.vonmises(-1.0, 4.0, n), rng.vonmises(1.8, 9.0, n))
    return torch.tensor(x, dtype=torch.float32)


if __name__ == "__main__":
    rng = np.random.default_rng(4)
    torch.manual_seed(4)
    x = activity(200, rng)
    model = CircularMixture(3)
    fit = Fit(model)(x, 12)
    print(model.summary())
    print("nll drop", round(fit.trace[0] - fit.trace[-1], 6))
