#!/usr/bin/env python3
"""Posterior over regression nets by SGLD (Welling & Teh), with cyclical step size.

The step itself is torch.optim.SGD on U(theta) = -log p(D|theta) - log p(theta); what is left for us is the kick.
"""
import copy
import math
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, d_in=2, hidden=12):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


class SGLDSampler:
    def __init__(self, model, n_data, lr0=2e-4, cycle=8, prior_std=1.0, temperature=1.0, noise_std=0.2, burn=0.5):
        self.model, self.n_data = model, n_data
        self.lr0, self.cycle, self.burn = lr0, cycle, burn
        self.prior_std, self.T, self.noise_std = prior_std, temperature, noise_std
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr0)
        self.samples = []
        self.t = 0

    def potential(self, x, y):
        nll = ((self.model(x) - y) ** 2).mean() * self.n_data / (2 * self.noise_std ** 2)
        prior = sum((p ** 2).sum() for p in self.model.parameters()) / (2 * self.prior_std ** 2)
        return nll + prior

    def _adjust_lr(self):
        pos = (self.t % self.cycle) / self.cycle
        lr = 0.5 * self.lr0 * (math.cos(math.pi * pos) + 1)
        for g in self.optimizer.param_groups:
            g["lr"] = lr
        return lr, pos

    @torch.no_grad()
    def _kick(self, lr):
        std = math.sqrt(2.0 * lr * self.T)
        for p in self.model.parameters():
            p += std * torch.randn_like(p)

    def step(self, x, y):
        lr, pos = self._adjust_lr()
        self.optimizer.zero_grad()
        U = self.potential(x, y)
        U.backward()
        self.optimizer.step()
        self._kick(lr)
        if pos >= self.burn:
            self.samples.append(copy.deepcopy(self.model.state_dict()))
        self.t += 1
        return U.item()

    @torch.no_grad()
    def predict(self, x):
        keep = copy.deepcopy(self.model.state_dict())
        preds = []
        for s in self.samples:
            self.model.load_state_dict(s)
            preds.append(self.model(x))
        self.model.load_state_dict(keep)
        preds = torch.stack(preds)
        return preds.mean(0), preds.std(0)


def main():
    torch.manual_seed(7)
    X = torch.randn(60, 2)
    Y = torch.sin(X[:, 0]) * X[:, 1] + 0.2 * torch.randn(60)
    sampler = SGLDSampler(Net(), len(X))
    for it in range(16):
        idx = torch.randint(0, len(X), (20,))
        u = sampler.step(X[idx], Y[idx])
        if it % 4 == 3:
            print("iter %3d  U %.4f" % (it + 1, u))
    mean, std = sampler.predict(torch.tensor([[0.5, 1.0], [3.0, -2.0], [-6.0, 6.0]]))
    print("mean", *["%.5f" % v for v in mean])
    print("std ", *["%.5f" % v for v in std])


if __name__ == "__main__":
    main()
