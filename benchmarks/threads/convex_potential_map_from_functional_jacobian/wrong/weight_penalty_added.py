"""Brenier map between two 2d clouds: gradient of an input-convex network, regressed on paired samples."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Args:
    dim: int = 2
    width: int = 16
    batch: int = 16
    steps: int = 10
    lr: float = 1e-2
    log_every: int = 2


class ICNN(nn.Module):
    """f(x) convex in x as long as the z-weights are non-negative."""

    def __init__(self, dim, width):
        super().__init__()
        self.x0 = nn.Linear(dim, width)
        self.x1 = nn.Linear(dim, width)
        self.x2 = nn.Linear(dim, 1)
        self.z1 = nn.Linear(width, width, bias=False)
        self.z2 = nn.Linear(width, 1, bias=False)
        self.quad = nn.Parameter(torch.tensor(0.5))
        for z in (self.z1, self.z2):
            nn.init.uniform_(z.weight, 0, 1.0 / width)

    def forward(self, x):
        z = F.softplus(self.x0(x))
        z = F.softplus(self.z1(z) + self.x1(x))
        f = self.z2(z) + self.x2(x)
        return f.squeeze(-1) + 0.5 * F.softplus(self.quad) * x.pow(2).sum(-1)

    @torch.no_grad()
    def project(self):
        for z in (self.z1, self.z2):
            z.weight.clamp_(min=0)


class TransportMap:
    def __init__(self, potential):
        self.potential = potential

    def __call__(self, x):
        # rows are independent, so the jacobian of the sum holds every sample's gradient
        return torch.autograd.functional.jacobian(lambda u: self.potential(u).sum(), x)


class Fitter:
    def __init__(self, args):
        self.args = args
        self.potential = ICNN(args.dim, args.width)
        self.map = TransportMap(self.potential)
        self.opt = torch.optim.Adam(self.potential.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.best = float("inf")

    def pairs(self, n, gen):
        x = torch.randn(n, self.args.dim, generator=gen)
        A = torch.tensor([[1.5, 0.4], [0.4, 0.7]])
        return x, x @ A + 0.3 * torch.tanh(x) + torch.tensor([1.0, -0.5])

    def train_step(self, x, y):
        self.opt.zero_grad()
        loss = (self.map(x) - y).pow(2).sum(dim=1).mean()
        loss = loss + 1e-4 * sum(p.pow(2).sum() for p in self.potential.parameters())
        loss.backward()
        gnorm = nn.utils.clip_grad_norm_(self.potential.parameters(), 10.0)
        self.opt.step()
        self.potential.project()
        return loss.item(), gnorm.item()

    def evaluate(self, x, y):
        self.potential.eval()
        err = (self.map(x) - y).norm(dim=1).mean().item()
        self.potential.train()
        self.best = min(self.best, err)
        return err


def main():
    args = Args()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(100)
    fitter = Fitter(args)
    xv, yv = fitter.pairs(64, gen)
    for step in range(args.steps):
        loss, g = fitter.train_step(*fitter.pairs(args.batch, gen))
        if (step + 1) % args.log_every == 0:
            print(f"[{step + 1:3d}] loss {loss:.6f} grad {g:.5f} val {fitter.evaluate(xv, yv):.6f}")
    print(f"best {fitter.best:.6f}")


if __name__ == "__main__":
    main()
