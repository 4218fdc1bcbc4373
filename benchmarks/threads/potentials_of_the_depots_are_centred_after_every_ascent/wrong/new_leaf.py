# Where to put depots with given capacities: semi-discrete optimal transport.
# Demand is a density we can only sample; prices (Kantorovich potentials) clear the capacities.
import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import torch

DEFAULTS = dict(
    n_depots=9,
    eps=0.02,
    inner=4,
    outer=8,
    batch=256,
    lr_price=0.05,
    lr_site=0.03,
    seed=77,
)


class Demand:
    """Orders of a city: a ring road, two centres."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def sample(self, n):
        kind = self.rng.integers(0, 3, n)
        ang = self.rng.uniform(0, 2 * np.pi, n)
        ring = np.stack([np.cos(ang), np.sin(ang)], 1) + 0.05 * self.rng.normal(size=(n, 2))
        c1 = np.array([-0.3, 0.2]) + 0.15 * self.rng.normal(size=(n, 2))
        c2 = np.array([0.4, -0.1]) + 0.10 * self.rng.normal(size=(n, 2))
        xy = np.where((kind == 0)[:, None], ring, np.where((kind == 1)[:, None], c1, c2))
        return torch.from_numpy(xy).float()


class SemiDiscreteOT:
    def __init__(self, capacities, eps):
        n = len(capacities)
        self.nu = capacities / capacities.sum()
        self.eps = eps
        self.sites = (0.5 * torch.randn(n, 2)).requires_grad_()
        self.prices = torch.zeros(n, requires_grad=True)

    def cost(self, x):
        return ((x[:, None, :] - self.sites[None]) ** 2).sum(-1)

    def dual(self, x):
        # smoothed c-transform
        z = (self.prices - self.cost(x)) / self.eps + self.nu.log()
        return (self.prices * self.nu).sum() - self.eps * torch.logsumexp(z, dim=1).mean()

    def share(self, x):
        z = (self.prices - self.cost(x)) / self.eps + self.nu.log()
        return torch.softmax(z, dim=1)

    def center(self):
        # the dual does not change when a constant is added to all prices
        self.prices = (self.prices - self.prices.mean()).detach().requires_grad_()


class DepotPlanner:
    def __init__(self, ot, demand, cfg):
        self.ot, self.demand, self.cfg = ot, demand, cfg
        self.ascent = torch.optim.Adam([ot.prices], lr=cfg["lr_price"], maximize=True)
        self.descent = torch.optim.SGD([ot.sites], lr=cfg["lr_site"], momentum=0.5)
        self.history = []

    def clear_market(self):
        for _ in range(self.cfg["inner"]):
            value = self.ot.dual(self.demand.sample(self.cfg["batch"]))
            self.ascent.zero_grad()
            value.backward()
            self.ascent.step()
            self.ot.center()
        return value.item()

    def move_depots(self):
        value = self.ot.dual(self.demand.sample(self.cfg["batch"]))
        self.descent.zero_grad()
        value.backward()
        grad = self.ot.sites.grad.norm().item()
        self.descent.step()
        return value.item(), grad

    @torch.no_grad()
    def report(self, outer, x):
        share = self.ot.share(x)
        cost = (share * self.ot.cost(x)).sum(1).mean().item()
        load = share.mean(0)
        overload = (load - self.ot.nu).clamp(min=0).sum().item()
        print(f"{outer:2d}  cost {cost:.6f}  overload {overload:.5f}  "
              f"prices {self.ot.prices.min().item():+.5f} .. {self.ot.prices.max().item():+.5f}")
        return {"cost": cost, "overload": overload}

    def run(self, out):
        check = self.demand.sample(1000)
        self.report(0, check)
        for outer in range(1, self.cfg["outer"] + 1):
            dual = self.clear_market()
            value, grad = self.move_depots()
            print(f"    dual {dual:.6f} -> {value:.6f}   |g| {grad:.5f}")
            self.history.append(self.report(outer, check))
            (out / "history.json").write_text(json.dumps(self.history))
            np.save(out / "sites.npy", self.ot.sites.detach().numpy())


def main():
    parser = argparse.ArgumentParser()
    for key, value in DEFAULTS.items():
        parser.add_argument("--" + key.replace("_", "-"), type=type(value), default=value)
    cfg = vars(parser.parse_args())
    torch.manual_seed(cfg["seed"])

    capacities = torch.linspace(1.0, 3.0, cfg["n_depots"])
    ot = SemiDiscreteOT(capacities, cfg["eps"])
    planner = DepotPlanner(ot, Demand(cfg["seed"]), cfg)
    with tempfile.TemporaryDirectory() as folder:
        planner.run(Path(folder))


if __name__ == "__main__":
    main()
