"""Estimate the width of the point spread function of a microscope from beads whose positions are known."""
import argparse

import torch

from imaging import Microscope, render_beads


class Fitter:
    def __init__(self, scope, lr):
        self.scope = scope
        self.opt = torch.optim.Adam(scope.parameters(), lr=lr)
        self.history = []

    def residual(self, truth, measured):
        return (self.scope(truth) - measured).pow(2).mean() * 100.0

    def run(self, truth, measured, iters, log_every=2):
        for it in range(iters):
            loss = self.residual(truth, measured)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.history.append(loss.item())
            if it % log_every == 0:
                sx, sy = self.scope.sigmas()
                print("it %3d  loss %.6f  sx %.5f  sy %.5f" % (it, self.history[-1], sx, sy))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=10)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--size", type=int, default=24)
    ap.add_argument("--beads", type=int, default=6)
    ap.add_argument("--save", default="", help="kept for the old GUI")
    args = ap.parse_args()
    torch.manual_seed(90)

    truth = render_beads(args.beads, args.size)
    with torch.no_grad():
        real = Microscope(sx=1.9, sy=1.2)
        measured = real(truth) + 0.002 * torch.randn(1, 1, args.size, args.size)
    scope = Microscope(sx=1.0, sy=1.0)
    Fitter(scope, args.lr).run(truth, measured, args.iters)


if __name__ == "__main__":
    main()
