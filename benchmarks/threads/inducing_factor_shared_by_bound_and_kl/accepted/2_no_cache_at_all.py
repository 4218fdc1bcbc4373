"""Sparse variational GP (Hensman 2013) on a toy 1-d signal, mini-batches, no gpytorch needed.

usage: python svgp.py --inducing 12 --epochs 4
"""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RBF(nn.Module):
    def __init__(self, dim, lengthscale=0.5, variance=1.0):
        super().__init__()
        self.log_ls = nn.Parameter(torch.full((dim,), math.log(lengthscale)))
        self.log_var = nn.Parameter(torch.tensor(math.log(variance)))

    def forward(self, a, b=None):
        b = a if b is None else b
        d = (a / self.log_ls.exp()).unsqueeze(1) - (b / self.log_ls.exp()).unsqueeze(0)
        return self.log_var.exp() * torch.exp(-0.5 * d.pow(2).sum(-1))

    def diag(self, a):
        return self.log_var.exp().expand(a.shape[0])


class SVGP(nn.Module):
    """q(u) = N(m, diag(s^2)), not whitened."""

    def __init__(self, Z, n_data, jitter=1e-3):
        super().__init__()
        self.kernel = RBF(Z.shape[1])
        self.Z = nn.Parameter(Z.clone())
        self.m = nn.Parameter(torch.zeros(Z.shape[0]))
        self.log_s = nn.Parameter(torch.full((Z.shape[0],), -1.0))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))
        self.n_data = n_data
        self.jitter = jitter
        self._chol = None

    def factor(self):
        # O(M^3), needed by q_f() and by kl(): do it only once and keep it
        return torch.linalg.cholesky(self.kernel(self.Z) + self.jitter * torch.eye(len(self.Z)))

    def q_f(self, x):
        L = self.factor()
        Kux = self.kernel(self.Z, x)
        A = torch.cholesky_solve(Kux, L)                       # K_uu^-1 K_ux
        mean = A.t() @ self.m
        var = self.kernel.diag(x) - (Kux * A).sum(0) + ((A * self.log_s.exp().unsqueeze(1)) ** 2).sum(0)
        return mean, var.clamp_min(1e-6)

    def kl(self):
        L = self.factor()
        M = len(self.m)
        S = torch.diag(self.log_s.exp() ** 2)
        trace = torch.diagonal(torch.cholesky_solve(S, L)).sum()
        maha = self.m @ torch.cholesky_solve(self.m.unsqueeze(1), L).squeeze(1)
        return 0.5 * (trace + maha - M + 2 * torch.diagonal(L).log().sum() - 2 * self.log_s.sum())

    def elbo(self, x, y):
        mean, var = self.q_f(x)
        noise = self.log_noise.exp()
        ell = -0.5 * (math.log(2 * math.pi) + noise.log() + ((y - mean) ** 2 + var) / noise)
        return ell.mean() * self.n_data - self.kl()


def toy(n):
    x = torch.rand(n, 1) * 4 - 2
    y = torch.sin(3 * x[:, 0]) + 0.4 * x[:, 0] + 0.15 * torch.randn(n)
    return x, y


def fit(model, x, y, args):
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        perm = torch.randperm(len(x))
        total = 0.0
        for idx in perm.split(args.batch):
            opt.zero_grad()
            loss = -model.elbo(x[idx], y[idx]) / len(x)
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"epoch {epoch}  -elbo/n {total / len(x):.5f}  ls {model.kernel.log_ls.exp()[0].item():.5f}  "
              f"noise {model.log_noise.exp().item():.5f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--inducing", type=int, default=12)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.03)
    p.add_argument("--seed", type=int, default=0)
    args, _ = p.parse_known_args()
    torch.manual_seed(args.seed)
    x, y = toy(96)
    model = SVGP(torch.linspace(-2, 2, args.inducing).unsqueeze(1), len(x))
    fit(model, x, y, args)
