#!/usr/bin/env python
"""
Online adaptation of a tracking controller: after every control tick the policy makes one gradient step through a
known (differentiable) one-step model.  A smoothness term keeps the commands from jumping between ticks.
"""
import argparse
from collections import deque

import numpy as np
import torch
from torch import nn


class Cart:
    """Double integrator with drag, the "real" plant (numpy)."""

    def __init__(self, dt=0.1, drag=0.3, seed=0):
        self.dt, self.drag = dt, drag
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros(4)          # x y vx vy

    def step(self, force):
        p, v = self.state[:2], self.state[2:]
        v = v + self.dt * (force - self.drag * v) + 0.002 * self.rng.standard_normal(2)
        p = p + self.dt * v
        self.state = np.concatenate([p, v])
        return self.state


def predict(state, force, dt=0.1, drag=0.25):
    """the controller's own model of the plant; drag is slightly off"""
    p, v = state[:2], state[2:]
    v = v + dt * (force - drag * v)
    return torch.cat([p + dt * v, v])


def reference(k):
    t = 0.12 * k
    return torch.tensor([np.sin(t), np.sin(2 * t) / 2], dtype=torch.float32)


class Policy(nn.Module):
    def __init__(self, hidden=24, limit=2.0):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.limit = limit

    def forward(self, state, ref, last):
        return self.limit * torch.tanh(self.net(torch.cat([state, ref, last])))


class OnlineController:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = Policy()
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        self.last_action = torch.zeros(2)
        self.errors = deque(maxlen=20)

    def tick(self, k, state):
        state = torch.tensor(state, dtype=torch.float32)
        action = self.policy(state, reference(k), self.last_action)
        nxt = predict(state, action)

        track = (nxt[:2] + 0.5 * nxt[2:] - reference(k + 5)).pow(2).sum()
        smooth = (action - self.last_action).pow(2).sum()
        effort = action.pow(2).sum()
        loss = track + self.cfg.smooth * smooth + self.cfg.effort * effort

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

        self.errors.append(track.item())
        return action.detach().numpy(), smooth.item()


def run(cfg):
    cart = Cart(seed=cfg.seed)
    ctl = OnlineController(cfg)
    jumps = []
    state = cart.state
    for k in range(cfg.ticks):
        force, jump = ctl.tick(k, state)
        state = cart.step(force)
        jumps.append(jump)
        if (k + 1) % 10 == 0:
            print("tick %3d  track %.6f  jump %.6f" % (k + 1, np.mean(ctl.errors), np.mean(jumps[-10:])))
    return state


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--ticks", type=int, default=30)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--smooth", type=float, default=0.3)
    ap.add_argument("--effort", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=12)
    cfg = ap.parse_args()
    torch.manual_seed(cfg.seed)
    state = run(cfg)
    print("final position %.6f %.6f" % (state[0], state[1]))


if __name__ == "__main__":
    main()
