"""MGDA-UB for two tasks (Sener & Koltun): task gradients only w.r.t. the representation, min-norm
weights, then one ordinary backward of the weighted loss."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from min_norm import min_norm_2, normalise


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(9, 18), nn.ELU(), nn.Linear(18, 7), nn.ELU())

    def forward(self, x):
        return self.f(x)


class MGDATrainer:
    def __init__(self, args):
        self.args = args
        self.model = {"rep": Shared(), "depth": nn.Linear(7, 1), "seg": nn.Linear(7, 4)}
        params = [p for m in self.model.values() for p in m.parameters()]
        self.optimizer = torch.optim.Adam(params, lr=args.lr)
        self.loss_fn = {"depth": lambda p, y: F.l1_loss(p.squeeze(1), y), "seg": F.cross_entropy}
        self.tasks = ["depth", "seg"]

    def find_scale(self, x, ys):
        rep = self.model["rep"](x)
        grads, values = [], []
        for t in self.tasks:
            self.optimizer.zero_grad()
            loss = self.loss_fn[t](self.model[t](rep), ys[t])
            loss.backward(retain_graph=True)
            values.append(loss.item())
            g = rep.grad if rep.grad is not None else torch.zeros_like(rep)
            grads.append(g.clone().flatten())
        g1, g2 = normalise(grads, values, self.args.normalization)
        a = min_norm_2(g1, g2)
        return {"depth": a, "seg": 1.0 - a}

    def step(self, x, ys):
        scale = self.find_scale(x, ys)
        self.optimizer.zero_grad()
        rep = self.model["rep"](x)
        total = 0.0
        for t in self.tasks:
            total = total + scale[t] * self.loss_fn[t](self.model[t](rep), ys[t])
        total.backward()
        self.optimizer.step()
        return total.item(), scale


def toy(n=20):
    x = torch.randn(n, 9)
    return x, {"depth": x[:, :3].sum(1).abs(), "seg": (x[:, 3] > 0).long() + 2 * (x[:, 4] > 0).long()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--normalization", choices=["none", "l2", "loss+"], default="none")
    parser.add_argument("--iters", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(2)
    trainer = MGDATrainer(args)
    for i in range(args.iters):
        loss, scale = trainer.step(*toy())
        print("iter %d total %.6f depth %.6f seg %.6f" % (i, loss, scale["depth"], scale["seg"]))


if __name__ == "__main__":
    main()
