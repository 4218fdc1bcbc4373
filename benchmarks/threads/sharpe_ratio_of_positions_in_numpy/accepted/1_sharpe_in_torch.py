import numpy as np
import torch
from torch import nn
from dataclasses import dataclass


@dataclass
class Config:
    lookback: int = 6
    hidden: int = 8
    cost: float = 0.02
    lr: float = 5e-3
    steps: int = 5
    seed: int = 11


class Trader(nn.Module):
    """LSTM -> position in [-1, 1] for every day"""

    def __init__(self, cfg):
        super().__init__()
        self.rnn = nn.LSTM(2, cfg.hidden, batch_first=True)
        self.head = nn.Linear(cfg.hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return torch.tanh(self.head(h[:, -1])).squeeze(-1)


def make_windows(prices, cfg):
    ret = np.diff(np.log(prices))
    vol = np.array([ret[max(0, i - 4):i + 1].std() for i in range(len(ret))])
    feats = np.stack([ret, vol], axis=1)
    xs, ys = [], []
    for i in range(cfg.lookback, len(ret)):
        xs.append(feats[i - cfg.lookback:i])
        ys.append(ret[i])
    return (torch.tensor(np.array(xs), dtype=torch.float32) * 10,
            torch.tensor(np.array(ys), dtype=torch.float32))


def pnl(position, ret, cost):
    # 建玉の変化に手数料がかかる (最初の日はゼロから)
    turnover = np.abs(np.diff(position, prepend=0.0))
    return position * ret - cost * turnover


def sharpe(position, ret, cost, eps=1e-6):
    r = pnl(position, ret, cost)
    return np.sqrt(252) * r.mean() / (r.std() + eps)


def max_drawdown(position, ret, cost):
    equity = np.cumsum(pnl(position, ret, cost))
    return float(np.max(np.maximum.accumulate(equity) - equity))


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = Trader(cfg)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=cfg.lr)

    def loss(self, x, ret):
        pos = self.net(x)
        turnover = torch.diff(pos, prepend=pos.new_zeros(1)).abs()
        r = pos * ret - self.cfg.cost * turnover
        return -252 ** 0.5 * r.mean() / (r.std(unbiased=False) + 1e-6)

    def fit(self, x, ret):
        for step in range(self.cfg.steps):
            self.opt.zero_grad()
            loss = self.loss(x, ret)
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            self.opt.step()
            print("step %d  -sharpe %.5f" % (step, loss.item()))

    def report(self, x, ret):
        with torch.no_grad():
            pos = self.net(x).numpy()
        print("test sharpe %.5f  mdd %.5f" % (sharpe(pos, ret.numpy(), self.cfg.cost),
                                              max_drawdown(pos, ret.numpy(), self.cfg.cost)))


def main():
    cfg = Config()
    rng = np.random.RandomState(cfg.seed)
    torch.manual_seed(cfg.seed)
    prices = 100 * np.exp(np.cumsum(0.02 + 0.1 * rng.randn(60)))
    x, ret = make_windows(prices, cfg)
    agent = Agent(cfg)
    agent.fit(x[:40], ret[:40])
    agent.report(x[40:], ret[40:])


if __name__ == "__main__":
    main()
