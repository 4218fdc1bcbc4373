import argparse
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("boltz")


class Symmetric(nn.Module):
    """W = W^T, no self coupling"""

    def forward(self, X):
        U = X.triu(1)
        return U + U.transpose(-1, -2)


class RelaxationNet(nn.Module):
    """Feed-forward drive + symmetric lateral coupling, relaxed for a few steps (energy exists only if W = W^T)."""

    def __init__(self, n_in, n_units, n_out, n_steps=4, leak=0.5):
        super().__init__()
        self.drive = nn.Linear(n_in, n_units)
        self.lateral = nn.Linear(n_units, n_units, bias=False)
        self.readout = nn.Linear(n_units, n_out)
        parametrize.register_parametrization(self.lateral, "weight", Symmetric())
        self.n_steps, self.leak = n_steps, leak

    def forward(self, x):
        b = self.drive(x)
        s = torch.zeros_like(b)
        with parametrize.cached():
            for _ in range(self.n_steps):
                s = (1 - self.leak) * s + self.leak * torch.tanh(b + self.lateral(s))
        return self.readout(s), s

    def energy(self, s):
        return -0.5 * (s @ self.lateral.weight * s).sum(1).mean()


def build_optimizer(net, args):
    rest = [p for n, p in net.named_parameters() if not n.startswith("lateral")]
    groups = [
        {"params": rest, "lr": args.lr},
        # the coupling has to move slower than everything else, otherwise the relaxation starts to oscillate
        {"params": list(net.lateral.parameters()), "lr": args.lr * args.lateral_scale, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, weight_decay=args.wd)


def synth(n, d, classes):
    y = torch.randint(0, classes, (n,))
    x = torch.randn(classes, d)[y] + 0.7 * torch.randn(n, d)
    return x, y


def run(args):
    torch.manual_seed(args.seed)
    x, y = synth(128, 10, 4)
    net = RelaxationNet(10, args.units, 4)
    optimizer = build_optimizer(net, args)
    for epoch in range(args.epochs):
        for xb, yb in zip(x.split(32), y.split(32)):
            logits, s = net(xb)
            loss = F.cross_entropy(logits, yb) + args.energy * net.energy(s)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        W = net.lateral.weight
        log.info("epoch %d loss %.6f |W| %.6f asym %.6f diag %.6f", epoch, loss.item(), W.norm().item(),
                 (W - W.t()).abs().max().item(), W.diagonal().abs().max().item())


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--units", type=int, default=14)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--lateral-scale", type=float, default=0.3)
    ap.add_argument("--wd", type=float, default=1e-2)
    ap.add_argument("--energy", type=float, default=1e-2)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--seed", type=int, default=1)
    run(ap.parse_args())
