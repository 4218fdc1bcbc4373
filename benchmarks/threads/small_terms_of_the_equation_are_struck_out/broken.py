#!/usr/bin/env python3
"""Find the equations of a noisy oscillator (SINDy with learned denoising).

x_measured = x + noise;   d/dt x = Theta(x) @ Xi
Xi and the noise are fitted together by gradient descent; every `--every` iterations the
coefficients below `--threshold` are set to zero (sequential thresholding), the others go on.
"""
import argparse

import torch
import torch.nn as nn


def simulate(n, dt, device):
    # van der Pol, mu = 0.8
    x, v, out = 1.5, 0.0, []
    for _ in range(n):
        for _ in range(10):
            h = dt / 10
            x, v = x + h * v, v + h * (0.8 * (1 - x * x) * v - x)
        out.append([x, v])
    return torch.tensor(out, device=device)


def library(x):
    a, b = x[:, 0], x[:, 1]
    cols = [torch.ones_like(a), a, b, a * a, a * b, b * b, a ** 3, a * a * b, a * b * b, b ** 3]
    return torch.stack(cols, dim=1)


NAMES = ['1', 'x', 'v', 'xx', 'xv', 'vv', 'xxx', 'xxv', 'xvv', 'vvv']


class NoisySINDy(nn.Module):
    def __init__(self, measured, dt):
        super().__init__()
        self.register_buffer('measured', measured)
        self.dt = dt
        self.Xi = nn.Parameter(0.1 * torch.randn(len(NAMES), measured.shape[1]))
        self.noise = nn.Parameter(torch.zeros_like(measured))

    def state(self):
        return self.measured - self.noise

    def loss(self, mu):
        x = self.state()
        dx = (x[2:] - x[:-2]) / (2 * self.dt)
        residual = dx - library(x[1:-1]) @ self.Xi
        return (residual ** 2).mean(), mu * (self.noise ** 2).mean()

    def threshold(self, lam):
        small = self.Xi.abs() < lam
        self.Xi[small] = 0.
        return int((~small).sum())

    def equations(self):
        for j, lhs in enumerate(['dx/dt', 'dv/dt']):
            terms = ['%+.4f %s' % (c, n) for c, n in zip(self.Xi[:, j].tolist(), NAMES) if abs(c) > 1e-8]
            print(lhs, '=', ' '.join(terms) or '0')


def main(args):
    torch.manual_seed(args.seed)
    device = torch.device('cpu')
    clean = simulate(args.samples, args.dt, device)
    model = NoisySINDy(clean + args.noise * torch.randn_like(clean), args.dt)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for it in range(1, args.iters + 1):
        fit, reg = model.loss(args.mu)
        loss = fit + reg
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % args.every == 0:
            alive = model.threshold(args.threshold)
            print('iter %4d  residual %.6f  noise term %.6f  terms left %d' % (it, fit.item(), reg.item(), alive))
    model.equations()
    print('denoising error %.6f' % (model.state() - clean).pow(2).mean().item())


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--samples', type=int, default=150)
    p.add_argument('--dt', type=float, default=0.1)
    p.add_argument('--noise', type=float, default=0.01)
    p.add_argument('--iters', type=int, default=400)
    p.add_argument('--every', type=int, default=80)
    p.add_argument('--threshold', type=float, default=0.08)
    p.add_argument('--mu', type=float, default=5.0)
    p.add_argument('--lr', type=float, default=0.02)
    p.add_argument('--seed', type=int, default=1)
    main(p.parse_args())
