#!/usr/bin/env python
"""Strong-constraint 4D-Var on Lorenz-96: find the initial state (and the forcing) that fit the observations."""
import argparse

import numpy as np
import torch

torch.set_default_dtype(torch.float64)


def lorenz96(x, F):
    return (torch.roll(x, -1, -1) - torch.roll(x, 2, -1)) * torch.roll(x, 1, -1) - x + F


def rk4(x, F, dt):
    k1 = lorenz96(x, F)
    k2 = lorenz96(x + 0.5 * dt * k1, F)
    k3 = lorenz96(x + 0.5 * dt * k2, F)
    k4 = lorenz96(x + dt * k3, F)
    return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def run(x, F, n, dt):
    out = [x]
    for _ in range(n):
        out.append(rk4(out[-1], F, dt))
    return torch.stack(out)


class Twin:
    """Truth, noisy observations of every other site, and a background that is off."""

    def __init__(self, n_sites, window, dt, rng):
        x = torch.from_numpy(8.0 + rng.normal(size=n_sites))
        x = run(x, 8.0, 200, dt)[-1]
        self.truth = run(x, 8.0, window, dt)
        self.sites = torch.arange(0, n_sites, 2)
        noise = torch.from_numpy(rng.normal(size=(window + 1, len(self.sites))))
        self.obs = self.truth[:, self.sites] + 0.2 * noise
        self.background = (x + torch.from_numpy(rng.normal(size=n_sites))).numpy()


class FourDVar:
    def __init__(self, twin, window, dt, sigma_b=1.0, sigma_o=0.2, lr=0.1, spread=0.3):
        self.twin, self.window, self.dt = twin, window, dt
        self.sigma_b, self.sigma_o = sigma_b, sigma_o
        self.xb = torch.from_numpy(twin.background)
        self.F = torch.nn.Parameter(torch.tensor(7.0))
        # the first guess is one member of an ensemble around the background
        self.x0 = torch.tensor(twin.background, requires_grad=True) + spread * torch.randn(len(self.xb))
        self.optimizer = torch.optim.Adam([
            {"params": [self.F], "lr": lr},
        ])

    def cost(self):
        traj = run(self.x0, self.F, self.window, self.dt)
        j_b = ((self.x0 - self.xb) ** 2).sum() / self.sigma_b ** 2
        j_o = ((traj[:, self.twin.sites] - self.twin.obs) ** 2).sum() / self.sigma_o ** 2
        return 0.5 * (j_b + j_o)

    def assimilate(self, n_iter):
        for it in range(n_iter):
            self.optimizer.zero_grad()
            j = self.cost()
            j.backward()
            self.optimizer.step()
            if it % 3 == 0:
                rmse = (self.x0.detach() - self.twin.truth[0]).pow(2).mean().sqrt()
                print("iter %2d J %.6f rmse %.6f F %.6f" % (it, j.item(), rmse.item(), self.F.item()))
        return self.x0.detach()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=12)
    parser.add_argument("--window", type=int, default=6)
    parser.add_argument("--dt", type=float, default=0.05)
    parser.add_argument("--iterations", type=int, default=13)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    twin = Twin(args.sites, args.window, args.dt, np.random.default_rng(args.seed))
    var = FourDVar(twin, args.window, args.dt)
    analysis = var.assimilate(args.iterations)

    free = run(var.xb, 8.0, 2 * args.window, args.dt)[-1]
    fore = run(analysis, var.F.detach(), 2 * args.window, args.dt)[-1]
    true = run(twin.truth[0], 8.0, 2 * args.window, args.dt)[-1]
    print("forecast error: background %.6f, analysis %.6f" % ((free - true).norm().item(), (fore - true).norm().item()))


if __name__ == "__main__":
    main()
