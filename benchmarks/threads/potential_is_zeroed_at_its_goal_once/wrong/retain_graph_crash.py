"""Energy shaping for planar agents: a learned potential steers a damped double integrator.

The closed loop is integrated with a fixed-step solver; the control is the negative
gradient of the potential plus damping injection.
"""
import argparse
import math

import torch
from torch import nn


class PotentialShaping(nn.Module):
    """u = -dV/dq - D q',  V(q) is reported relative to its value at the goal."""

    def __init__(self, goal, hidden=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.Softplus(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )
        self.log_damping = nn.Parameter(torch.zeros(2))
        self.register_buffer("goal", goal)
        # energy level of the goal, so that the shaped potential is zero there
        self.level = self.raw(goal)

    def raw(self, q):
        quadratic = 0.5 * (q - self.goal).pow(2).sum(-1)
        return quadratic + self.net(q).squeeze(-1)

    def potential(self, q):
        return self.raw(q) - self.level

    def control(self, q, v):
        if not q.requires_grad:
            q = q.clone().requires_grad_(True)
        energy = self.potential(q).sum()
        force, = torch.autograd.grad(energy, q, create_graph=True)
        return -force - self.log_damping.exp() * v


class ClosedLoop(nn.Module):
    """dx/dt = f(x) with an extra state that integrates the control effort."""

    def __init__(self, controller, mass=1.0):
        super().__init__()
        self.controller = controller
        self.mass = mass
        self.nfe = 0

    def forward(self, t, x):
        self.nfe += 1
        q, v = x[:, :2], x[:, 2:4]
        u = self.controller.control(q, v)
        effort = u.pow(2).sum(-1, keepdim=True)
        return torch.cat([v, u / self.mass, effort], dim=1)


def odeint(f, x, span):
    """Midpoint rule over the given grid."""
    states = [x]
    for t0, t1 in zip(span[:-1], span[1:]):
        h = t1 - t0
        k = f(t0, x)
        x = x + h * f(t0 + h / 2, x + h / 2 * k)
        states.append(x)
    return torch.stack(states)


class EnergyShapingLearner:
    def __init__(self, model, lr=5e-3, w_effort=0.05, w_level=0.5):
        self.model = model
        self.w_effort, self.w_level = w_effort, w_level
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=3, gamma=0.7)
        self.logs = []

    def training_step(self, x0, span):
        controller = self.model.controller
        x0 = torch.cat([x0, torch.zeros(len(x0), 1)], dim=1)
        xs = odeint(self.model, x0, span)
        q_end, effort = xs[-1, :, :2], xs[-1, :, -1]
        terminal = (q_end - controller.goal).pow(2).sum(-1).mean()
        # the goal has to be the bottom of the well: V(q) >= margin * |q - q*|^2 along the way
        path = xs[:-1, :, :2].reshape(-1, 2)
        margin = 0.6 * (path - controller.goal).pow(2).sum(-1)
        well = torch.relu(margin - controller.potential(path)).mean()
        loss = terminal + self.w_effort * effort.mean() + self.w_level * well
        return loss, {"terminal": terminal.item(), "effort": effort.mean().item(), "well": well.item()}

    def fit(self, batches, span):
        for x0 in batches:
            loss, parts = self.training_step(x0, span)
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            self.logs.append(parts)
        return self.logs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--agents", type=int, default=12)
    parser.add_argument("--horizon", type=float, default=2.0)
    args = parser.parse_args()
    torch.manual_seed(5)
    goal = torch.tensor([0.8, -0.4])
    model = ClosedLoop(PotentialShaping(goal))
    span = torch.linspace(0.0, args.horizon, 9)
    batches = [torch.rand(args.agents, 4) * 2 - 1 for _ in range(args.steps)]
    learner = EnergyShapingLearner(model)
    logs = learner.fit(batches, span)
    for i, parts in enumerate(logs):
        if i % 3 == 0 or i == len(logs) - 1:
            print(i, " ".join(f"{k} {v:.5f}" for k, v in parts.items()))
    with torch.no_grad():
        damping = model.controller.log_damping.exp()
    print("damping", [round(d, 4) for d in damping.tolist()], "nfe", model.nfe)
    assert math.isfinite(logs[-1]["terminal"])


if __name__ == "__main__":
    main()
