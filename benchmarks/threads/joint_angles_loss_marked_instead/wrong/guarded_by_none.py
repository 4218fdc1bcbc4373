#!/usr/bin/env python
"""numerical IK of a planar arm by gradient descent on the joint angles"""
import argparse
import math
import torch


class PlanarArm:
    def __init__(self, lengths, limits=None):
        self.lengths = torch.tensor(lengths)
        self.limits = limits if limits is not None else [(-math.pi, math.pi)] * len(lengths)

    @property
    def dof(self):
        return len(self.lengths)

    def fk(self, q):
        """positions of all joints, (dof+1, 2)"""
        a = torch.cumsum(q, dim=0)
        steps = self.lengths.unsqueeze(1) * torch.stack([torch.cos(a), torch.sin(a)], dim=1)
        return torch.cat([torch.zeros(1, 2), torch.cumsum(steps, dim=0)])

    def limit_penalty(self, q):
        lo = torch.tensor([l for l, _ in self.limits])
        hi = torch.tensor([h for _, h in self.limits])
        return (torch.relu(lo - q) ** 2 + torch.relu(q - hi) ** 2).sum()


class Obstacle:
    def __init__(self, centre, radius):
        self.c, self.r = torch.tensor(centre), radius

    def cost(self, pts):
        d = (pts - self.c).norm(dim=1)
        return (torch.relu(self.r - d) ** 2).sum()


class IKSolver:
    def __init__(self, arm, obstacles=(), lr=0.1, w_limit=1.0, w_obs=2.0, w_rest=1e-2):
        self.arm, self.obstacles = arm, obstacles
        self.lr, self.w_limit, self.w_obs, self.w_rest = lr, w_limit, w_obs, w_rest

    def objective(self, q, target, rest):
        pts = self.arm.fk(q)
        cost = ((pts[-1] - target) ** 2).sum()
        cost = cost + self.w_limit * self.arm.limit_penalty(q)
        cost = cost + self.w_rest * ((q - rest) ** 2).sum()
        for o in self.obstacles:
            cost = cost + self.w_obs * o.cost(pts)
        return cost

    def solve(self, target, q0, iters=20, verbose=True):
        rest = q0.clone()
        q = q0.clone()
        for i in range(iters):
            loss = self.objective(q, target, rest)
            loss.requires_grad_(True)
            loss.backward()
            if q.grad is not None:
                q -= self.lr * q.grad
                q.grad.zero_()
            if verbose and i % 4 == 0:
                print('  iter %d  cost %.6f' % (i, loss.item()))
        return q


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--iters', type=int, default=20)
    p.add_argument('--lr', type=float, default=0.15)
    args = p.parse_args()
    torch.manual_seed(0)
    arm = PlanarArm([0.5, 0.4, 0.3, 0.2], limits=[(-2., 2.)] * 4)
    solver = IKSolver(arm, [Obstacle([0.3, 0.35], 0.15)], lr=args.lr)
    q = torch.rand(arm.dof) * 0.3
    for target in ([0.6, 0.7], [-0.2, 0.9], [0.9, -0.3]):
        print('target', target)
        q = solver.solve(torch.tensor(target), q, args.iters)
        end = arm.fk(q)[-1].tolist()
        print('reached %.5f %.5f   q %s' % (end[0], end[1], ' '.join('%.5f' % v for v in q.tolist())))


if __name__ == '__main__':
    main()
