"""Learned inverse kinematics: a network proposes joint angles, gradient descent on the
forward kinematics refines them, the network then learns the refined angles."""
import argparse
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn


def wrap(q):
    """Angles to [-pi, pi)."""
    return torch.remainder(q + math.pi, 2 * math.pi) - math.pi


class PlanarArm(nn.Module):
    """Forward kinematics of a planar arm; the link lengths are calibrated on the way."""

    def __init__(self, lengths):
        super().__init__()
        self.lengths = nn.Parameter(torch.tensor(lengths))

    def forward(self, q):
        heading = torch.cumsum(q, dim=-1)
        x = (self.lengths * torch.cos(heading)).sum(-1)
        y = (self.lengths * torch.sin(heading)).sum(-1)
        return torch.stack([x, y], dim=-1)


class Proposal(nn.Module):
    def __init__(self, n_joints, hidden=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(3, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(), nn.Linear(hidden, n_joints)
        )

    def forward(self, target):
        radius = target.norm(dim=-1, keepdim=True)
        return 2.5 * self.net(torch.cat([target, radius], dim=-1))


@dataclass
class RefineConfig:
    steps: int = 6
    rate: float = 0.15
    rest_weight: float = 0.02
    rest: list = field(default_factory=lambda: [0.3, 0.6, 0.6, 0.3])


class Refiner:
    def __init__(self, arm, cfg):
        self.arm, self.cfg = arm, cfg
        self.rest = torch.tensor(cfg.rest)

    def objective(self, q, target):
        reach = (self.arm(q) - target).pow(2).sum(-1)
        posture = (q - self.rest).pow(2).sum(-1)
        return (reach + self.cfg.rest_weight * posture).sum()

    def __call__(self, q0, target):
        q = q0.detach().clone().requires_grad_(True)
        for _ in range(self.cfg.steps):
            q = wrap(q)
            q.retain_grad()
            self.objective(q, target).backward()
            with torch.no_grad():
                q = q - self.cfg.rate * q.grad
            q.requires_grad_(True)
        return wrap(q).detach()


class Learner:
    def __init__(self, arm, proposal, refiner, lr):
        self.arm, self.proposal, self.refiner = arm, proposal, refiner
        self.optimizer = torch.optim.Adam(
            [{"params": proposal.parameters()}, {"params": arm.parameters(), "lr": 0.1 * lr}], lr=lr
        )
        self.decay = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.93)
        self.trace = []

    def update(self, target, measured_q, measured_tip):
        q = self.proposal(target)
        better = self.refiner(q, target)
        imitation = (q - better).pow(2).mean()
        calibration = (self.arm(measured_q) - measured_tip).pow(2).sum(-1).mean()
        loss = imitation + calibration
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.proposal.parameters(), 1.0)
        self.optimizer.step()
        self.decay.step()
        self.trace.append((imitation.item(), calibration.item()))


def workspace(n, g):
    angle = (torch.rand(n, generator=g) * 2 - 1) * math.pi
    radius = 0.6 + 1.8 * torch.rand(n, generator=g)
    return torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()
    torch.manual_seed(31)
    g = torch.Generator().manual_seed(31)
    true_arm = PlanarArm([1.0, 0.8, 0.6, 0.3])
    arm = PlanarArm([0.9, 0.9, 0.5, 0.4])
    proposal = Proposal(4)
    with torch.no_grad():
        proposal.net[-1].bias.copy_(torch.tensor([1.2, -1.3, 0.4, 1.25]))
    learner = Learner(arm, proposal, Refiner(arm, RefineConfig()), args.lr)
    for _ in range(args.rounds):
        measured_q = (torch.rand(args.batch, 4, generator=g) * 2 - 1) * math.pi
        with torch.no_grad():
            tip = true_arm(measured_q) + 0.01 * torch.randn(args.batch, 2, generator=g)
        learner.update(workspace(args.batch, g), measured_q, tip)
    for i in range(0, args.rounds, 4):
        print("round %d imitation %.5f calibration %.5f" % (i, *learner.trace[i]))
    with torch.no_grad():
        target = workspace(64, g)
        error = (true_arm(proposal(target)) - target).norm(dim=-1).mean()
    print("tip error %.5f links %s" % (error, [round(v, 4) for v in arm.lengths.tolist()]))


if __name__ == "__main__":
    main()
