#!/usr/bin/env python3
# Fit stiffness and damping of a hanging chain to a filmed motion (differentiable simulation, semi-implicit Euler)
import argparse
import sys

import numpy as np
import torch
import torch.nn as nn


class Chain:
    """N point masses on springs, the first one is held. State: pos, vel (N x 2)"""

    def __init__(self, n=6, rest=0.2, mass=0.05, dt=0.01, substeps=2):
        self.n, self.rest, self.mass = n, rest, mass
        self.dt, self.substeps = dt / substeps, substeps
        self.gravity = torch.tensor([0.0, -9.81])
        self.pos0 = torch.stack([torch.arange(n) * rest, torch.zeros(n)], dim=1)
        self.free = torch.ones(n, 1)
        self.free[0] = 0.0
        self.vel = torch.zeros_like(self.pos0)
        self.reset()

    def reset(self):
        """put the chain back to where it is let go"""
        self.pos = self.pos0.clone()
        self.vel = self.vel.detach()
        self.time = 0.0

    def spring_forces(self, k):
        d = self.pos[1:] - self.pos[:-1]
        length = d.norm(dim=1, keepdim=True)
        f = k * (length - self.rest) * d / length
        out = torch.zeros_like(self.pos)
        out[:-1] += f
        out[1:] -= f
        return out

    def substep(self, k, c):
        force = self.spring_forces(k) - c * self.vel + self.mass * self.gravity
        self.vel = (self.vel + self.dt * force / self.mass) * self.free
        self.pos = self.pos + self.dt * self.vel
        self.time += self.dt

    def step(self, k, c):
        for _ in range(self.substeps):
            self.substep(k, c)
        return self.pos

    def energy(self):
        with torch.no_grad():
            return (0.5 * self.mass * self.vel.pow(2).sum() + 9.81 * self.mass * self.pos[:, 1].sum()).item()


class Material(nn.Module):
    """positive parameters"""

    def __init__(self, n, k=8.0, c=0.02):
        super().__init__()
        self.log_k = nn.Parameter(torch.full((n - 1, 1), float(np.log(k))))
        self.log_c = nn.Parameter(torch.tensor(float(np.log(c))))

    def forward(self):
        return self.log_k.exp(), self.log_c.exp()


def simulate(chain, material, frames, every):
    k, c = material()
    shots = []
    for f in range(frames):
        p = chain.step(k, c)
        if f % every == every - 1:
            shots.append(p)
    return torch.stack(shots)


def film(frames, every, noise=0.002):
    """what the camera saw: the chain let go from rest"""
    chain, true = Chain(), Material(6, k=14.0, c=0.05)
    with torch.no_grad():
        clip = simulate(chain, true, frames, every)
    return clip + noise * torch.randn(clip.shape)


def fit(args, clip, out=sys.stdout):
    chain, material = Chain(), Material(6)
    opt = torch.optim.Adam(material.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, args.decay)
    for it in range(args.iterations):
        chain.reset()
        opt.zero_grad()
        predicted = simulate(chain, material, args.frames, args.every)
        loss = (predicted - clip).pow(2).sum(-1).mean()
        smooth = (material.log_k[1:] - material.log_k[:-1]).pow(2).mean()
        (loss + args.smooth * smooth).backward()
        opt.step()
        sched.step()
        k, c = material()
        print('it %d  error %.6f  k %.5f  c %.6f  E %.5f' % (it, loss.item(), k.mean().item(), c.item(), chain.energy()), file=out)
    return material


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--iterations', type=int, default=6)
    parser.add_argument('--frames', type=int, default=16)
    parser.add_argument('--every', type=int, default=4)
    parser.add_argument('--lr', type=float, default=0.05)
    parser.add_argument('--decay', type=float, default=0.95)
    parser.add_argument('--smooth', type=float, default=1e-3)
    args = parser.parse_args([])
    torch.manual_seed(19)
    fit(args, film(args.frames, args.every))
