"""PINN for a rod that heats a well stirred tank at its right end.

    u_t = a u_xx                 rod, u(x, t)
    c v' = -a u_x(1, t) - k v    tank, v(t) only
    u(1, t) = v(t),  u(0, t) = 1,  u(x, 0) = v(0) = 0 (smoothed)
"""
import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(12)


def mlp(n_in, width=14):
    return nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


class Fields(nn.Module):
    """all unknowns of the system, by name"""

    def __init__(self):
        super().__init__()
        self.rod = mlp(2)
        self.tank = mlp(1)

    def forward(self, x, t):
        return {"u": self.rod(torch.cat([x, t], 1)), "v": self.tank(t)}


def derivatives(fields, coords):
    """d[name, coordinate] for every unknown and every coordinate"""
    d = {}
    for name, value in fields.items():
        values = grad(value.sum(), list(coords.values()), create_graph=True)
        for c, g in zip(coords, values):
            d[name, c] = g
    return d


class HeatedTank:
    def __init__(self, a=0.4, c=1.5, k=0.3):
        self.a, self.c, self.k = a, c, k
        self.net = Fields()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=8e-3)

    def inner(self, n):
        x, t = torch.rand(n, 1).requires_grad_(), torch.rand(n, 1).requires_grad_()
        f = self.net(x, t)
        d = derivatives(f, {"x": x, "t": t})
        u_xx = grad(d["u", "x"].sum(), x, create_graph=True)[0]
        return (d["u", "t"] - self.a * u_xx).pow(2).mean()

    def coupling(self, n):
        x, t = torch.ones(n, 1).requires_grad_(), torch.rand(n, 1).requires_grad_()
        f = self.net(x, t)
        d = derivatives(f, {"x": x, "t": t})
        balance = self.c * d["v", "t"] + self.a * d["u", "x"] + self.k * f["v"]
        # der Tank ist gut gerührt: kein Gefälle in x
        mixed = d["v", "x"]
        return balance.pow(2).mean() + mixed.pow(2).mean() + (f["u"] - f["v"]).pow(2).mean()

    def data(self, n):
        x, t = torch.rand(n, 1), torch.rand(n, 1)
        left = self.net(torch.zeros_like(t), t)["u"] - 1
        start = self.net(x, torch.zeros_like(x))
        return left.pow(2).mean() + (start["u"] - torch.exp(-20 * x)).pow(2).mean() + start["v"].pow(2).mean()

    def train(self, steps, n=16):
        for step in range(steps):
            parts = [self.inner(n), self.coupling(n), self.data(n)]
            loss = sum(parts)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            print("step %d " % step + " ".join("%.6f" % p.item() for p in parts))


HeatedTank().train(7)
