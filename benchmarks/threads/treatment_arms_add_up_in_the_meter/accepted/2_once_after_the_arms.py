"""Multi-treatment uplift model: one response head per arm, a common representation."""
import argparse
from collections import defaultdict

import numpy as np
import torch
from torch import nn

CFG = {
    "n_users": 240,
    "n_features": 10,
    "arms": ["control", "coupon", "free_shipping", "bundle"],
    "hidden": 16,
    "lr": 8e-3,
    "weight_decay": 1e-4,
    "max_grad_norm": 2.0,
}


class ArmData:
    """Users with a logged treatment and an outcome; batches are drawn per arm."""

    def __init__(self, cfg, seed):
        rng = np.random.RandomState(seed)
        n, d, k = cfg["n_users"], cfg["n_features"], len(cfg["arms"])
        x = rng.randn(n, d)
        t = rng.choice(k, size=n, p=[0.4, 0.3, 0.2, 0.1])
        base = 1 / (1 + np.exp(-x[:, 0] + 0.5 * x[:, 1]))
        lift = 0.15 * t * np.tanh(x[:, 2])
        y = (rng.rand(n) < np.clip(base + lift, 0.02, 0.98)).astype(np.float32)
        self.x = torch.tensor(x, dtype=torch.float32)
        self.t, self.y = torch.tensor(t), torch.tensor(y)
        self.rng = rng

    def batch(self, arm, size):
        rows = np.flatnonzero((self.t == arm).numpy())
        rows = torch.from_numpy(self.rng.choice(rows, size=min(size, len(rows)), replace=False))
        return self.x[rows], self.y[rows]


class DeepUplift(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        h = cfg["hidden"]
        self.representation = nn.Sequential(nn.Linear(cfg["n_features"], h), nn.ELU(), nn.Linear(h, h), nn.ELU())
        self.heads = nn.ModuleDict({arm: nn.Linear(h, 1) for arm in cfg["arms"]})

    def forward(self, x, arm):
        return self.heads[arm](self.representation(x)).squeeze(-1)

    @torch.no_grad()
    def uplift(self, x):
        self.eval()
        phi = self.representation(x)
        probs = {arm: torch.sigmoid(head(phi)).squeeze(-1) for arm, head in self.heads.items()}
        control = probs.pop("control")
        self.train()
        return {arm: (p - control).mean().item() for arm, p in probs.items()}


class Meter:
    """Sums of what is added between two resets."""

    def __init__(self):
        self.history = []
        self.reset()

    def reset(self):
        self.sums = defaultdict(float)

    def add(self, name, value):
        self.sums[name] = self.sums[name] + value
        return self.sums[name]

    def close(self):
        self.history.append({k: float(v) for k, v in self.sums.items()})
        self.reset()


class Trainer:
    def __init__(self, model, data, cfg):
        self.model, self.data, self.cfg = model, data, cfg
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=cfg["weight_decay"])
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=10)
        self.meter = Meter()

    def step(self, batch_size):
        self.optimizer.zero_grad()
        for index, arm in enumerate(self.cfg["arms"]):
            x, y = self.data.batch(index, batch_size)
            loss = self.criterion(self.model(x, arm), y) / len(self.cfg["arms"])
            total = self.meter.add("loss", loss)
            self.meter.add("seen", len(y))
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["max_grad_norm"])
        self.optimizer.step()
        self.scheduler.step()
        self.meter.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--batch-size", type=int, default=24)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    data = ArmData(CFG, args.seed)
    model = DeepUplift(CFG)
    trainer = Trainer(model, data, CFG)
    for _ in range(args.steps):
        trainer.step(args.batch_size)
    for i in (0, args.steps // 2, args.steps - 1):
        row = trainer.meter.history[i]
        print(f"step {i} loss {row['loss']:.5f} seen {row['seen']:.0f}")
    print(" ".join(f"{arm} {value:+.5f}" for arm, value in model.uplift(data.x).items()))


if __name__ == "__main__":
    main()
