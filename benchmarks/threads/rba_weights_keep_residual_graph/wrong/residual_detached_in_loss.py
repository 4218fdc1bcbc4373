"""Residual based attention (RBA) for a 1D viscous Burgers equation.
lambda_i <- gamma * lambda_i + eta * |r_i| / max|r|      (one weight per collocation point)
"""
import argparse
import math

import torch
import torch.nn as nn


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument('--n_col', type=int, default=48)
    p.add_argument('--gamma', type=float, default=0.9)
    p.add_argument('--eta', type=float, default=0.1)
    p.add_argument('--nu', type=float, default=0.01 / math.pi)
    p.add_argument('--lr', type=float, default=2e-3)
    p.add_argument('--iters', type=int, default=8)
    p.add_argument('--seed', type=int, default=11)
    return p.parse_args()


class MLP(nn.Module):
    def __init__(self, width=20, depth=3):
        super().__init__()
        dims = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))

    def forward(self, t, x):
        h = torch.cat([t, x], dim=1)
        for l in self.layers[:-1]:
            h = torch.tanh(l(h))
        return self.layers[-1](h)


class BurgersRBA:
    def __init__(self, args):
        self.args = args
        self.net = MLP()
        self.t = torch.rand(args.n_col, 1, requires_grad=True)
        self.x = (torch.rand(args.n_col, 1) * 2 - 1).requires_grad_()
        self.x0 = torch.linspace(-1, 1, 24).view(-1, 1)
        self.u0 = -torch.sin(math.pi * self.x0)
        # weights of the collocation points, start at zero as in the paper
        self.rba = torch.zeros(args.n_col, 1)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr)

    @staticmethod
    def d(out, inp):
        return torch.autograd.grad(out, inp, torch.ones_like(out), create_graph=True)[0]

    def residual(self):
        u = self.net(self.t, self.x)
        u_t, u_x = self.d(u, self.t), self.d(u, self.x)
        u_xx = self.d(u_x, self.x)
        return u_t + u * u_x - self.args.nu * u_xx

    def loss_pde(self):
        r = self.residual()
        r_norm = self.args.eta * r.abs() / r.abs().max()
        self.rba = self.args.gamma * self.rba.detach() + r_norm
        return ((self.rba * r.detach()) ** 2).mean()

    def loss_ic(self):
        return ((self.net(torch.zeros_like(self.x0), self.x0) - self.u0) ** 2).mean()

    def loss_bc(self):
        tb = torch.linspace(0, 1, 12).view(-1, 1)
        one = torch.ones_like(tb)
        return (self.net(tb, one) ** 2).mean() + (self.net(tb, -one) ** 2).mean()

    def fit(self):
        for it in range(self.args.iters):
            self.opt.zero_grad()
            pde, ic, bc = self.loss_pde(), self.loss_ic(), self.loss_bc()
            loss = pde + ic + bc
            loss.backward()
            self.opt.step()
            print('it %d  pde %.6f  ic %.6f  bc %.6f' % (it, pde.item(), ic.item(), bc.item()))
        print('mean weight %.6f  max weight %.6f' % (self.rba.mean().item(), self.rba.max().item()))


if __name__ == '__main__':
    args = get_args()
    torch.manual_seed(args.seed)
    BurgersRBA(args).fit()
