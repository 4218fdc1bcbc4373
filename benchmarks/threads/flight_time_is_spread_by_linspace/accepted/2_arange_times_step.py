import argparse
import math

import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)

"""
Minimum-time flight of a planar drone through gates (direct transcription, penalty method).
Decision variables: knots of the path and the flight time T.
"""

GATES = [((1.5, 1.0), 0.35), ((3.0, -0.6), 0.65)]      # position, fraction of the flight
TREE = ((2.2, 0.4), 0.35)                              # obstacle: centre, radius


class Plan(nn.Module):
    def __init__(self, start, goal, n_knots, time_guess):
        super().__init__()
        s = torch.linspace(0.0, 1.0, n_knots)[1:-1, None]
        self.register_buffer("start", torch.tensor(start))
        self.register_buffer("goal", torch.tensor(goal))
        inner = self.start + s * (self.goal - self.start)
        self.knots = nn.Parameter(inner + 0.05 * torch.randn_like(inner))
        self.log_T = nn.Parameter(torch.tensor(math.log(time_guess)))

    @property
    def T(self):
        return self.log_T.exp()

    def positions(self):
        return torch.cat([self.start[None], self.knots, self.goal[None]])

    def times(self):
        n = len(self.knots) + 2
        return torch.arange(n) * (self.T / (n - 1))


def derivatives(p, t):
    dt = (t[1:] - t[:-1])[:, None]
    v = (p[1:] - p[:-1]) / dt
    a = (v[1:] - v[:-1]) / (0.5 * (dt[1:] + dt[:-1]))
    return v, a


class Objective:
    def __init__(self, v_max, a_max, w_time=1.0, w_limit=2.0, w_gate=20.0, w_tree=20.0, w_smooth=1e-3):
        self.v_max, self.a_max = v_max, a_max
        self.w = dict(time=w_time, limit=w_limit, gate=w_gate, tree=w_tree, smooth=w_smooth)

    def terms(self, p, t):
        v, a = derivatives(p, t)
        speed = v.pow(2).sum(1).add(1e-8).sqrt()
        thrust = a.pow(2).sum(1).add(1e-8).sqrt()
        n = len(p) - 1
        gate = sum((p[round(f * n)] - torch.tensor(g)).pow(2).sum() for g, f in GATES)
        centre, radius = torch.tensor(TREE[0]), TREE[1]
        inside = torch.relu(radius - (p - centre).pow(2).sum(1).add(1e-8).sqrt())
        return {
            "time": t[-1],
            "limit": torch.relu(speed - self.v_max).pow(2).mean() + torch.relu(thrust - self.a_max).pow(2).mean(),
            "gate": gate,
            "tree": inside.pow(2).sum(),
            "smooth": (a[1:] - a[:-1]).pow(2).mean(),
        }

    def __call__(self, plan):
        terms = self.terms(plan.positions(), plan.times())
        return sum(self.w[k] * x for k, x in terms.items()), terms

    def tighten(self, factor):
        for k in ("limit", "gate", "tree"):
            self.w[k] *= factor


def optimise(plan, objective, args):
    optimizer = torch.optim.Adam([
        {"params": [plan.knots], "lr": args.lr},
        {"params": [plan.log_T], "lr": args.lr_time},
    ])
    for outer in range(args.outer):
        for it in range(args.inner):
            cost, terms = objective(plan)
            optimizer.zero_grad()
            cost.backward()
            nn.utils.clip_grad_norm_([plan.knots], 10.0)
            slope = plan.log_T.grad.item()
            optimizer.step()
        print(f"[{outer}] cost {cost.item():.6f}  T {plan.T.item():.5f}  dcost/dlogT {slope:+.5f}  "
              + "  ".join(f"{k} {float(x):.5f}" for k, x in terms.items()))
        objective.tighten(1.5)


@torch.no_grad()
def report(plan):
    p, t = plan.positions(), plan.times()
    v, a = derivatives(p, t)
    length = (p[1:] - p[:-1]).norm(dim=1).sum()
    print(f"T = {plan.T.item():.5f} s, path {length.item():.5f} m, "
          f"v_max {v.norm(dim=1).max().item():.5f}, a_max {a.norm(dim=1).max().item():.5f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--knots", type=int, default=21)
    ap.add_argument("--time-guess", type=float, default=2.0)
    ap.add_argument("--v-max", type=float, default=3.0)
    ap.add_argument("--a-max", type=float, default=9.0)
    ap.add_argument("--outer", type=int, default=5)
    ap.add_argument("--inner", type=int, default=10)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--lr-time", type=float, default=0.02)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    plan = Plan((0.0, 0.0), (4.0, 0.5), args.knots, args.time_guess)
    optimise(plan, Objective(args.v_max, args.a_max), args)
    report(plan)


if __name__ == "__main__":
    main()
