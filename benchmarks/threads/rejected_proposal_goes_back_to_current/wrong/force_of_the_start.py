"""Hamiltonian Monte Carlo over the weights of a small regression network.

Usage: python hmc.py --samples 40 --step-size 0.05
"""
import argparse
import math

import torch


def unpack(q, shapes):
    parts, start = [], 0
    for shape in shapes:
        n = math.prod(shape)
        parts.append(q[start:start + n].view(shape))
        start += n
    return parts


class Posterior:
    """Negative log posterior of a two-layer network with unit Gaussian prior."""

    shapes = [(2, 6), (6,), (6, 1), (1,)]

    def __init__(self, x, y, noise):
        self.x, self.y, self.noise = x, y, noise
        self.dim = sum(math.prod(s) for s in self.shapes)

    def predict(self, q, x):
        w1, b1, w2, b2 = unpack(q, self.shapes)
        return torch.tanh(x @ w1 + b1) @ w2 + b2

    def energy(self, q):
        misfit = ((self.predict(q, self.x) - self.y) ** 2).sum() / (2 * self.noise ** 2)
        return misfit + 0.5 * (q ** 2).sum()

    def gradient(self, q):
        return torch.autograd.grad(self.energy(q), q)[0]


class HMC:
    def __init__(self, target, step_size, steps):
        self.target, self.step_size, self.steps = target, step_size, steps
        self.accepted = 0
        self.proposed = 0

    def leapfrog(self, q, p):
        eps = self.step_size
        force = self.target.gradient(q)
        p = p - 0.5 * eps * force
        for i in range(self.steps):
            q = (q + eps * p).detach()
            p = p - (eps if i + 1 < self.steps else 0.5 * eps) * force
        return q, p

    def step(self, q):
        current = q
        p = torch.randn(q.shape)
        start = (self.target.energy(current) + 0.5 * (p ** 2).sum()).item()
        q, p = self.leapfrog(q, p)
        q.requires_grad_()
        end = (self.target.energy(q) + 0.5 * (p ** 2).sum()).item()
        self.proposed += 1
        if math.log(torch.rand(()).item()) < start - end:
            self.accepted += 1
            return q
        # rejected: stay where we were
        return current


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--burn", type=int, default=10)
    parser.add_argument("--step-size", type=float, default=0.035)
    parser.add_argument("--leapfrog", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(23)
    x = torch.rand(30, 2) * 4 - 2
    y = x[:, :1].sin() - 0.4 * x[:, 1:] + 0.2 * torch.randn(30, 1)
    target = Posterior(x, y, noise=0.2)
    sampler = HMC(target, args.step_size, args.leapfrog)
    q = (0.3 * torch.randn(target.dim)).requires_grad_()
    predictions = []
    for it in range(args.samples):
        q = sampler.step(q)
        if it >= args.burn:
            predictions.append(target.predict(q, x).detach())
        if it % 10 == 9:
            print(f"{it + 1} energy {target.energy(q).item():.4f} accepted {sampler.accepted}")
    mean = torch.stack(predictions).mean(dim=0)
    print(f"acceptance {sampler.accepted / sampler.proposed:.4f} rmse {((mean - y) ** 2).mean().sqrt().item():.5f}")


if __name__ == "__main__":
    main()
