# -*- coding: utf-8 -*-
"""PINN 入门: 阻尼振子  u'' + 2*d*u' + w0^2*u = 0,  u(0)=1, u'(0)=0"""
import numpy as np
import torch
import torch.nn as nn


class FCN(nn.Module):
    """全连接网络"""

    def __init__(self, n_hidden=16, n_layers=2):
        super().__init__()
        layers = [nn.Linear(1, n_hidden), nn.Tanh()]
        for _ in range(n_layers - 1):
            layers += [nn.Linear(n_hidden, n_hidden), nn.Tanh()]
        layers += [nn.Linear(n_hidden, 1)]
        self.net = nn.Sequential(*layers)

    def forward(self, t):
        return self.net(t)


class Oscillator:
    def __init__(self, d=0.5, w0=3.0, n_points=41):
        self.d, self.w0 = d, w0
        # 配点, 等距
        self.t = torch.linspace(0, 1, n_points).view(-1, 1)
        self.h = 1.0 / (n_points - 1)

    def exact(self, t):
        w = np.sqrt(self.w0**2 - self.d**2)
        return np.exp(-self.d * t) * (np.cos(w * t) + self.d / w * np.sin(w * t))

    def residual(self, model):
        t = self.t.clone().requires_grad_(True)
        u = model(t)
        du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
        ddu = torch.autograd.grad(du, t, torch.ones_like(du), retain_graph=True)[0]
        return ddu + 2 * self.d * du + self.w0**2 * u

    def initial(self, model):
        t0 = torch.zeros(1, 1, requires_grad=True)
        u0 = model(t0)
        du0 = torch.autograd.grad(u0, t0, torch.ones_like(u0), create_graph=True)[0]
        return (u0 - 1.0).pow(2).mean(), du0.pow(2).mean()


def train(model, problem, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        optimizer.zero_grad()
        loss_pde = problem.residual(model).pow(2).mean()  # 方程
        loss_u0, loss_du0 = problem.initial(model)  # 初始条件
        loss = 1e-2 * loss_pde + loss_u0 + 0.1 * loss_du0
        loss.backward()
        optimizer.step()
        if step % 5 == 4:
            print("step %d pde %.5f u0 %.5f du0 %.5f" % (step + 1, loss_pde, loss_u0, loss_du0))


def main():
    torch.manual_seed(123)
    problem = Oscillator()
    model = FCN()
    train(model, problem, steps=20)
    with torch.no_grad():
        error = np.abs(model(problem.t).squeeze(1).numpy() - problem.exact(problem.t.squeeze(1).numpy())).mean()
    print("error %.5f" % error)


if __name__ == "__main__":
    main()
