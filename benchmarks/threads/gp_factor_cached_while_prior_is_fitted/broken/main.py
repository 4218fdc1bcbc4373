"""Calibrate the GP prior of the drying oven on last year's runs, then predict this year's."""
import argparse

import torch

from gpr.model import ConditionedGP
from gpr.trainer import PriorFitter, make_runs


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=8)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--dims", type=int, default=2)
    ap.add_argument("--fast-pred-var", action="store_true", help="kept for the old scripts, does nothing")
    return ap.parse_args()


def main():
    args = parse()
    torch.manual_seed(31)
    x, y, xq, yq = make_runs(args.dims)
    gp = ConditionedGP(x, y, dims=args.dims)
    fitter = PriorFitter(gp, lr=args.lr)
    for step in range(args.steps):
        loss = fitter.step(xq, yq)
        print(f"{step:2d} predictive nll {loss:.6f}  noise {gp.log_noise.exp().item():.6f}")
    gp.eval()
    grid = torch.linspace(-1, 1, 4).unsqueeze(1).repeat(1, args.dims)
    for lo in range(0, 4, 2):  # in chunks, the factor of K is only needed once
        with torch.no_grad():
            mean, var = gp.posterior(grid[lo:lo + 2])
        print(" ".join(f"{m:.5f}+-{s:.5f}" for m, s in zip(mean.tolist(), var.sqrt().tolist())))


if __name__ == "__main__":
    main()
