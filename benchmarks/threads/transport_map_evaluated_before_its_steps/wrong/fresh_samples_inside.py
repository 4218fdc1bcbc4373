"""Neural optimal transport between two small clouds: a map T and a potential f, T takes several steps per step of f."""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.SiLU()]
    return nn.Sequential(*layers[:-1])


class Moons:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def sample(self, n):
        phi = self.rng.uniform(0, np.pi, n)
        side = self.rng.integers(0, 2, n)
        x = np.where(side, 1 - np.cos(phi), np.cos(phi))
        y = np.where(side, 0.5 - np.sin(phi), np.sin(phi))
        return torch.tensor(np.stack([x, y], 1) + 0.05 * self.rng.normal(size=(n, 2)), dtype=torch.float32)


class Gauss:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def sample(self, n):
        return torch.tensor(self.rng.normal(size=(n, 2)) * 0.5, dtype=torch.float32)


class NOT:
    def __init__(self, args):
        self.args = args
        self.T, self.f = mlp(2, args.width, 2), mlp(2, args.width, 1)
        self.T_opt = torch.optim.Adam(self.T.parameters(), lr=args.lr)
        self.f_opt = torch.optim.Adam(self.f.parameters(), lr=args.lr)
        self.X, self.Y = Gauss(args.seed), Moons(args.seed + 1)

    def t_phase(self):
        X = self.X.sample(self.args.batch)
        T_X = None
        for t_iter in range(self.args.t_iters):
            X = self.X.sample(self.args.batch)
            T_X = self.T(X)
            cost = 0.5 * (X - T_X).pow(2).sum(1)
            T_loss = (cost - self.f(T_X).squeeze(1)).mean()
            self.T_opt.zero_grad()
            T_loss.backward()
            self.T_opt.step()
        return T_loss.item()

    def f_phase(self):
        X, Y = self.X.sample(self.args.batch), self.Y.sample(self.args.batch)
        with torch.no_grad():
            T_X = self.T(X)
        f_loss = (self.f(T_X) - self.f(Y)).mean()
        self.f_opt.zero_grad()
        f_loss.backward()
        self.f_opt.step()
        return f_loss.item()

    def fit(self):
        for step in range(self.args.steps):
            t, f = self.t_phase(), self.f_phase()
            print("step", step, "T_loss %.6f f_loss %.6f" % (t, f))


def main():
    parser = argparse.ArgumentParser()
    for name, default in dict(width=12, batch=16, steps=4, t_iters=3, seed=10).items():
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    NOT(args).fit()


if __name__ == "__main__":
    main()
