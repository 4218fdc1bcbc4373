# -*- coding: utf-8 -*-
"""
Neural-linear bandit for article recommendation (simulated click log).

An encoder maps (user, article) to a feature z; on top of it sits a ridge regression
    A = lambda I + sum z z^T,   b = sum r z,   theta = A^-1 b
which gives mean and confidence width (LinUCB). The encoder is trained online: the squared
error of the ridge prediction, and a small auxiliary head that predicts dwell time.
"""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Environment:
    """Users come in segments, each segment likes other topics."""

    def __init__(self, n_arms, dim, seed):
        rng = np.random.RandomState(seed)
        self.rng = rng
        self.articles = rng.randn(n_arms, dim).astype(np.float32)
        self.taste = rng.randn(3, dim).astype(np.float32)

    def next_user(self):
        segment = self.rng.randint(3)
        user = self.taste[segment] + 0.3 * self.rng.randn(self.taste.shape[1])
        return user.astype(np.float32)

    def contexts(self, user):
        u = np.repeat(user[None], len(self.articles), 0)
        return torch.from_numpy(np.concatenate([u, self.articles, u * self.articles], 1))

    def pull(self, user, arm):
        affinity = float(user @ self.articles[arm]) / math.sqrt(len(user))
        p = 1.0 / (1.0 + math.exp(-affinity))
        reward = float(self.rng.rand() < p)
        dwell = max(0.0, p + 0.1 * self.rng.randn())
        return reward, dwell

    def best(self, user):
        a = self.articles @ user / math.sqrt(len(user))
        return (1.0 / (1.0 + np.exp(-a))).max()


class NeuralLinearUCB(nn.Module):
    def __init__(self, in_dim, dim=6, lam=1.0, alpha=0.6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(in_dim, 24), nn.ReLU(), nn.Linear(24, dim), nn.Tanh())
        self.dwell_head = nn.Linear(dim, 1)
        self.alpha = alpha
        self.register_buffer("A", lam * torch.eye(dim))
        self.register_buffer("b", torch.zeros(dim))
        self.n = 0

    @property
    def theta(self):
        return torch.linalg.solve(self.A, self.b)

    def forward(self, x):
        z = self.encoder(x)
        return z, z @ self.theta

    @torch.no_grad()
    def choose(self, x):
        z, mean = self(x)
        width = (z * torch.linalg.solve(self.A, z.t()).t()).sum(1).clamp(min=0).sqrt()
        return int((mean + self.alpha * width).argmax())

    def loss(self, x, reward, dwell):
        z, mean = self(x)
        loss = (mean - reward) ** 2 + 0.1 * F.mse_loss(self.dwell_head(z).squeeze(-1), dwell)
        return loss, z

    def observe(self, z, reward):
        self.A = self.A + torch.outer(z, z)
        self.b = self.b + reward * z
        self.n += 1


def run(args):
    env = Environment(args.arms, args.dim, args.seed)
    agent = NeuralLinearUCB(3 * args.dim)
    opt = torch.optim.RMSprop(agent.parameters(), lr=args.lr)

    regret, window = 0.0, []
    for t in range(1, args.rounds + 1):
        user = env.next_user()
        x = env.contexts(user)
        arm = agent.choose(x)
        reward, dwell = env.pull(user, arm)
        regret += env.best(user) - 1.0 / (1.0 + math.exp(-float(user @ env.articles[arm]) / math.sqrt(args.dim)))

        agent.A, agent.b = agent.A.detach(), agent.b.detach()
        agent.observe(agent.encoder(x[arm]), reward)
        loss, z = agent.loss(x[arm], torch.tensor(reward), torch.tensor(dwell))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
        opt.step()

        window.append(loss.item())
        if t % args.log_every == 0:
            print("round %3d  loss %.6f  regret %.4f  |theta| %.6f"
                  % (t, sum(window) / len(window), regret, agent.theta.norm().item()))
            window = []
    print("pulls %d  trace(A) %.6f" % (agent.n, agent.A.trace().item()))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=40)
    p.add_argument("--arms", type=int, default=7)
    p.add_argument("--dim", type=int, default=5)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--log_every", type=int, default=5)
    p.add_argument("--seed", type=int, default=19)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    run(args)
