#!/usr/bin/env python3
"""KAN-like regression with gaussian bases whose centres and widths follow the data.

The grid of every layer is adapted a little after each training batch (running range of its inputs), so that the
bases keep covering the activations of the layer before.
"""
import argparse
import math

import torch
from torch import nn
import torch.nn.functional as F


class RBFLayer(nn.Module):
    def __init__(self, in_dim, out_dim, n_grids=6, momentum=0.05, grid_range=(-2.0, 2.0)):
        super().__init__()
        lo, hi = grid_range
        self.n_grids = n_grids
        self.momentum = momentum
        self.register_buffer('grid', torch.linspace(lo, hi, n_grids).repeat(in_dim, 1))
        self.register_buffer('inv_width', torch.full((in_dim, 1), (n_grids - 1) / (hi - lo)))
        self.spline = nn.Linear(in_dim * n_grids, out_dim, bias=False)
        self.base = nn.Linear(in_dim, out_dim)
        nn.init.trunc_normal_(self.spline.weight, std=0.1)

    def forward(self, x):
        z = (x.unsqueeze(-1) - self.grid) * self.inv_width
        basis = torch.exp(-z ** 2)
        out = self.spline(basis.flatten(1)) + self.base(F.silu(x))
        if self.training:
            self.adapt_grid(x)
        return out

    @torch.no_grad()
    def adapt_grid(self, x):
        lo, hi = x.amin(0), x.amax(0)
        span = (hi - lo).clamp(min=1e-3)
        t = torch.linspace(0, 1, self.n_grids, device=x.device)
        wanted = lo.unsqueeze(1) + span.unsqueeze(1) * t
        self.grid.lerp_(wanted, self.momentum)
        self.inv_width.lerp_(((self.n_grids - 1) / span).unsqueeze(1), self.momentum)


class KAN(nn.Module):
    def __init__(self, widths, **kwargs):
        super().__init__()
        self.layers = nn.ModuleList(RBFLayer(a, b, **kwargs) for a, b in zip(widths[:-1], widths[1:]))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def target(x):
    return torch.exp(torch.sin(math.pi * x[:, 0]) + x[:, 1] ** 2).unsqueeze(1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--width', type=int, nargs='+', default=[2, 5, 1])
    p.add_argument('--grids', type=int, default=6)
    p.add_argument('--momentum', type=float, default=0.05)
    p.add_argument('--steps', type=int, default=60)
    p.add_argument('--lr', type=float, default=2e-2)
    p.add_argument('--seed', type=int, default=0)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    x_train, x_test = torch.rand(200, 2) * 2 - 1, torch.rand(100, 2) * 2 - 1
    model = KAN(args.width, n_grids=args.grids, momentum=args.momentum)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for step in range(args.steps):
        model.train()
        idx = torch.randint(0, len(x_train), (64,))
        loss = F.mse_loss(model(x_train[idx]), target(x_train[idx]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0 or step == args.steps - 1:
            model.eval()
            with torch.no_grad():
                test = F.mse_loss(model(x_test), target(x_test))
            print(f'step {step:3d} | train {loss.item():.6f} | test {test.item():.6f}')

    for i, layer in enumerate(model.layers):
        print(f'layer {i}: grid {layer.grid.min():.4f} .. {layer.grid.max():.4f}, width {1 / layer.inv_width.mean():.4f}')


if __name__ == '__main__':
    main()
