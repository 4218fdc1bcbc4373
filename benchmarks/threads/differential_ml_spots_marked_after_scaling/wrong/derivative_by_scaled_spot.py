"""
Differential machine learning (Huge & Savine): a network learns option prices from sampled payoffs AND their
pathwise derivatives with respect to today's spot.
"""
import argparse
import math

import numpy as np
import torch
from torch import nn


def simulate(n, strike, vol, seed):
    """spots today, discounted payoffs at maturity, pathwise deltas (antithetic pairs averaged)"""
    g = np.random.default_rng(seed)
    spot = g.lognormal(math.log(100.0), 0.25, size=n)
    z = g.standard_normal(n)
    pay, delta = np.zeros(n), np.zeros(n)
    for sign in (1.0, -1.0):
        growth = np.exp(-0.5 * vol * vol + sign * vol * z)
        final = spot * growth
        pay += 0.5 * np.maximum(final - strike, 0)
        delta += 0.5 * (final > strike) * growth
    to = lambda a: torch.tensor(a[:, None], dtype=torch.float32)
    return to(spot), to(pay), to(delta)


class Scaler:
    def __init__(self, values):
        self.mean, self.std = values.mean(0), values.std(0)

    def __call__(self, v):
        return (v - self.mean) / self.std

    def back(self, v):
        return v * self.std + self.mean


class PriceNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, width), nn.Softplus(), nn.Linear(width, width), nn.Softplus(), nn.Linear(width, 1))

    def forward(self, x):
        return self.f(x)


class TwinTrainer:
    def __init__(self, net, x_scale, y_scale, lr, weight):
        self.net, self.xs, self.ys = net, x_scale, y_scale
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.weight = weight
        self.delta_scale = None

    def step(self, spot, pay, delta):
        # prices and deltas are in money: d price / d spot, spot in the original units
        x = self.xs(spot).requires_grad_(True)
        price = self.ys.back(self.net(x))
        d_price, = torch.autograd.grad(price.sum(), x, create_graph=True)

        value_loss = (price - pay).pow(2).mean() / self.ys.std.pow(2)
        delta_loss = (d_price - delta).pow(2).mean() / delta.pow(2).mean()
        loss = value_loss + self.weight * delta_loss
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return value_loss.item(), delta_loss.item()


def black_scholes_call(s, k, vol):
    d1 = (torch.log(s / k) + 0.5 * vol ** 2) / vol
    cdf = lambda d: 0.5 * (1 + torch.erf(d / math.sqrt(2)))
    return s * cdf(d1) - k * cdf(d1 - vol)


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--paths", type=int, default=256)
    cli.add_argument("--batch", type=int, default=64)
    cli.add_argument("--epochs", type=int, default=5)
    cli.add_argument("--vol", type=float, default=0.3)
    cli.add_argument("--strike", type=float, default=105.0)
    cli.add_argument("--weight", type=float, default=1.0)
    cli.add_argument("--seed", type=int, default=8)
    o = cli.parse_args()

    torch.manual_seed(o.seed)
    spot, pay, delta = simulate(o.paths, o.strike, o.vol, o.seed)
    trainer = TwinTrainer(PriceNet(20), Scaler(spot), Scaler(pay), 1e-2, o.weight)

    for epoch in range(o.epochs):
        order = torch.randperm(o.paths)
        sums = np.zeros(2)
        for i in range(0, o.paths, o.batch):
            idx = order[i:i + o.batch]
            sums += trainer.step(spot[idx], pay[idx], delta[idx])
        v, d = sums / (o.paths // o.batch)
        print(f"epoch {epoch}  value {v:.6f}  delta {d:.6f}")

    grid = torch.linspace(70, 140, 15)[:, None]
    with torch.no_grad():
        fit = trainer.ys.back(trainer.net(trainer.xs(grid)))
    print(f"rmse against Black-Scholes: {(fit - black_scholes_call(grid, o.strike, o.vol)).pow(2).mean().sqrt():.5f}")


if __name__ == "__main__":
    main()
