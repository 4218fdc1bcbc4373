"""
Portfolio policy with transaction costs.

The policy chooses target weights w_t (softmax). During the day the holdings drift with the returns,
tomorrow's turnover is measured against the drifted holdings. The objective is the mean log growth after
costs, minus a penalty on how concentrated the *chosen* weights are.
"""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn


def simulate(n_days, n_assets, seed):
    rng = np.random.default_rng(seed)
    drift = rng.normal(4e-4, 4e-4, n_assets)
    market = rng.normal(0, 0.01, (n_days, 1))
    noise = rng.normal(0, 0.012, (n_days, n_assets))
    mom = np.zeros(n_assets)
    out = []
    for t in range(n_days):
        r = drift + market[t] + noise[t] + 0.3 * mom
        mom = 0.9 * mom + 0.1 * r
        out.append(r)
    return torch.tensor(np.array(out), dtype=torch.float32)


class Policy(nn.Module):
    def __init__(self, n_assets, lookback, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_assets * (lookback + 1), hidden), nn.Tanh(), nn.Linear(hidden, n_assets))

    def forward(self, window, held):
        z = torch.cat([50 * window.flatten(), held])
        return torch.softmax(self.net(z), -1)


def drifted(w, gross):
    value = w * gross
    return value / value.sum()


def rollout(policy, returns, lookback, cost):
    """one pass over a stretch of days; returns growth per day, the chosen weights and the turnover"""
    n_assets = returns.shape[1]
    held = torch.full((n_assets,), 1 / n_assets)
    growth, chosen, turnover = [], [], []
    for t in range(lookback, len(returns)):
        w = policy(returns[t - lookback:t], held)
        chosen.append(w)
        trade = (w - held).abs().sum()
        turnover.append(trade)
        gross = 1 + returns[t]
        growth.append(torch.log((w * gross).sum() * (1 - cost * trade)))
        # let the holdings drift until tomorrow
        held = drifted(w, gross)
    return torch.stack(growth), torch.stack(chosen), torch.stack(turnover)


def objective(growth, chosen, lam):
    entropy = -(chosen * torch.log(chosen + 1e-8)).sum(-1)
    concentration = math.log(chosen.shape[1]) - entropy
    return -100 * growth.mean() + lam * concentration.mean(), concentration.mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--assets", type=int, default=5)
    p.add_argument("--lookback", type=int, default=4)
    p.add_argument("--days", type=int, default=60)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--chunk", type=int, default=20)
    p.add_argument("--cost", type=float, default=0.002)
    p.add_argument("--lam", type=float, default=0.5)
    args = p.parse_args()

    torch.manual_seed(0)
    returns = simulate(args.days + args.lookback, args.assets, seed=0)
    policy = Policy(args.assets, args.lookback)
    with torch.no_grad():
        policy.net[-1].bias += torch.linspace(-1, 1, args.assets)
    opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        for start in range(0, args.days, args.chunk):
            stretch = returns[start:start + args.chunk + args.lookback]
            growth, chosen, turnover = rollout(policy, stretch, args.lookback, args.cost)
            loss, conc = objective(growth, chosen, args.lam)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch}  loss {loss.item():.6f}  concentration {conc:.6f}  turnover {turnover.mean().item():.6f}")
    with torch.no_grad():
        growth, chosen, turnover = rollout(policy, returns, args.lookback, args.cost)
    print(f"log growth {100 * growth.sum().item():.5f}%  largest chosen weight {chosen.max().item():.5f}")


if __name__ == "__main__":
    main()
