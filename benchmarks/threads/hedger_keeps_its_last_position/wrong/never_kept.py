# -*- coding: utf-8 -*-
"""ディープヘッジング：取引コスト付きのコール売りを毎週ヘッジする。"""
import argparse
import logging

import torch
import torch.nn.functional as F
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("hedge")


class BrownianStock:
    """幾何ブラウン運動。spot は (経路数, 時点数)。"""

    def __init__(self, n_paths, sigma=0.2, dt=1 / 52 / 5, cost=2e-3):
        self.n_paths, self.sigma, self.dt, self.cost = n_paths, sigma, dt, cost

    def simulate(self, n_steps, generator):
        z = torch.randn(self.n_paths, n_steps, generator=generator)
        drift = -0.5 * self.sigma ** 2 * self.dt
        logs = torch.cumsum(drift + self.sigma * self.dt ** 0.5 * z, dim=1)
        return torch.cat([torch.ones(self.n_paths, 1), logs.exp()], dim=1)


class Call:
    def __init__(self, strike=1.0):
        self.strike = strike

    def payoff(self, spot):
        return F.relu(spot[:, -1] - self.strike)


def features(spot, t, n_steps, strike, prev):
    """対数マネーネス・残存期間・直前のポジション"""
    money = (spot[:, t] / strike).log() * 20
    left = torch.full_like(money, (n_steps - t) / n_steps)
    return torch.stack([money, left, prev], dim=1)


class Hedger(nn.Module):
    def __init__(self, n_paths, hidden=16):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.prev_hedge = torch.zeros(n_paths)      # 直前のポジション
        self.turnover = 0.0

    def compute_pl(self, stock, derivative, spot):
        n_steps = spot.size(1) - 1
        gain = torch.zeros(spot.size(0))
        cost = torch.zeros(spot.size(0))
        for t in range(n_steps):
            x = features(spot, t, n_steps, derivative.strike, self.prev_hedge)
            hedge = torch.sigmoid(self.model(x)).squeeze(1)
            trade = hedge - self.prev_hedge
            cost = cost + stock.cost * spot[:, t] * (trade.pow(2) + 1e-6).sqrt()
            gain = gain + hedge * (spot[:, t + 1] - spot[:, t])
            self.turnover += trade.abs().mean().item()
        return gain - cost - derivative.payoff(spot)


class EntropicRiskMeasure(nn.Module):
    def __init__(self, a=20.0):
        super().__init__()
        self.a = a

    def forward(self, pl):
        n = torch.tensor(float(pl.numel()))
        return (torch.logsumexp(-self.a * pl, dim=0) - n.log()) / self.a


def fit(hedger, stock, derivative, args, generator):
    criterion = EntropicRiskMeasure(args.aversion)
    optimizer = torch.optim.Adam(hedger.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[4], gamma=0.5)
    history = []
    for week in range(args.weeks):
        # 毎週、新しい経路を引く
        spot = stock.simulate(args.days, generator)
        optimizer.zero_grad()
        pl = hedger.compute_pl(stock, derivative, spot)
        loss = criterion(pl)
        loss.backward()
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
        log.debug("week %d risk %.5f", week, loss.item())
    return history


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--weeks", type=int, default=8)
    p.add_argument("--days", type=int, default=5)
    p.add_argument("--paths", type=int, default=64)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--aversion", type=float, default=20.0)
    args = p.parse_args()
    torch.manual_seed(42)
    generator = torch.Generator().manual_seed(42)
    stock, derivative = BrownianStock(args.paths), Call()
    hedger = Hedger(args.paths)
    history = fit(hedger, stock, derivative, args, generator)
    for i in (0, 3, len(history) - 1):
        print(f"week {i} risk {history[i]:.6f}")
    print(f"turnover {hedger.turnover:.5f} last hedge {hedger.prev_hedge.mean().item():.5f}")


if __name__ == "__main__":
    main()
