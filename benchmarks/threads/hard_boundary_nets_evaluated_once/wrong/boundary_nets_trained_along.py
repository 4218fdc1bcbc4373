# Poisson problem  -u'' = f  on (0, 1), u(0) = a, u(1) = b
# hard boundary conditions a la Berg & Nystroem:  u(x) = G(x) + D(x) * N(x)
# G (extension of the boundary data) and D (smooth distance) are small nets that are fitted first.
import argparse
import math

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=16)
parser.add_argument("--n_col", type=int, default=40)
parser.add_argument("--pre_iters", type=int, default=40)
parser.add_argument("--iters", type=int, default=12)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--bc", type=float, nargs=2, default=[0.5, -1.0])
parser.add_argument("--print_every", type=int, default=3)
opt = parser.parse_args()

torch.manual_seed(42)


class MLP(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        layers, n = [], 1
        for _ in range(depth):
            layers += [nn.Linear(n, width), nn.Tanh()]
            n = width
        self.net = nn.Sequential(*layers, nn.Linear(n, 1))

    def forward(self, x):
        return self.net(x)


def source(x):
    return math.pi ** 2 * torch.sin(math.pi * x)


def pretrain(net, x, y, iters, lr=1e-2):
    optim = torch.optim.Adam(net.parameters(), lr=lr)
    for _ in range(iters):
        optim.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optim.step()
    return loss.item()


class HardBCPinn:
    def __init__(self, opt):
        self.opt = opt
        self.G, self.D, self.N = MLP(opt.width, 1), MLP(opt.width), MLP(opt.width)
        self.optimizer = torch.optim.Adam([*self.N.parameters(), *self.D.parameters(), *self.G.parameters()], lr=opt.lr)
        self.x = torch.linspace(0, 1, opt.n_col + 2)[1:-1].unsqueeze(1)

    def fit_boundary(self):
        a, b = self.opt.bc
        xb = torch.tensor([[0.0], [1.0]])
        print("G %.6f" % pretrain(self.G, xb, torch.tensor([[a], [b]]), self.opt.pre_iters))
        xs = torch.linspace(0, 1, 33).unsqueeze(1)
        print("D %.6f" % pretrain(self.D, xs, torch.minimum(xs, 1 - xs), self.opt.pre_iters))

    def residual(self, u, x):
        u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
        return -u_xx - source(x)

    def train(self):
        x = self.x.requires_grad_(True)
        # G and D are ready and never change again, so evaluate them on the collocation points only once
        for it in range(self.opt.iters):
            g_x, d_x = self.G(x), self.D(x)
            u = g_x + d_x * self.N(x)
            loss = self.residual(u, x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if it % self.opt.print_every == 0:
                print("it %d residual %.6f" % (it, loss.item()))


if __name__ == "__main__":
    pinn = HardBCPinn(opt)
    pinn.fit_boundary()
    pinn.train()
    with torch.no_grad():
        xt = torch.tensor([[0.0], [0.25], [0.5], [1.0]])
        print("u", " ".join("%.5f" % v for v in (pinn.G(xt) + pinn.D(xt) * pinn.N(xt)).squeeze().tolist()))
