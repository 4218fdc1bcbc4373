import argparse
import os
import tempfile
from collections import defaultdict

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

# Probabilistic load forecast: next 12 hours, 7 quantiles, from the last 36 hours.

QUANTILES = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98]


class LoadDataset(Dataset):
    def __init__(self, series, hours, history, horizon, stride=6):
        self.items = []
        for s in range(0, len(series) - history - horizon, stride):
            past = series[s:s + history]
            future = series[s + history:s + history + horizon]
            cal = hours[s + history:s + history + horizon]
            feats = np.stack([np.sin(2 * np.pi * cal / 24), np.cos(2 * np.pi * cal / 24)], 1)
            self.items.append((past.astype("f4"), feats.astype("f4"), future.astype("f4")))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def make_series(n, seed):
    rng = np.random.RandomState(seed)
    hours = np.arange(n)
    load = 1.0 + 0.4 * np.sin(2 * np.pi * (hours - 7) / 24) + 0.15 * np.sin(2 * np.pi * hours / 168)
    noise = rng.randn(n) * (0.05 + 0.08 * (hours % 24 > 16))
    for i in range(1, n):
        noise[i] += 0.6 * noise[i - 1]
    return load + noise, hours


class QuantileForecaster(nn.Module):
    def __init__(self, n_quantiles, hidden=20):
        super().__init__()
        self.encoder = nn.GRU(1, hidden, batch_first=True)
        self.decoder = nn.Sequential(nn.Linear(hidden + 2, 32), nn.SiLU(), nn.Linear(32, n_quantiles))
        self.n_quantiles = n_quantiles

    def forward(self, past, calendar):
        level = past.mean(1, keepdim=True)
        _, h = self.encoder((past - level).unsqueeze(-1))
        h = h[-1].unsqueeze(1).expand(-1, calendar.shape[1], -1)
        q = self.decoder(torch.cat([h, calendar], -1))
        q = q.clone()
        # first column is the lowest quantile, the others are increments: no crossing
        for k in range(1, self.n_quantiles):
            q[..., k] = q[..., k - 1] + nn.functional.softplus(q[..., k])
        return q + level.unsqueeze(-1)


class PinballLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("taus", torch.tensor(quantiles))

    def forward(self, pred, target):
        err = target.unsqueeze(-1) - pred
        return torch.maximum(self.taus * err, (self.taus - 1) * err).mean()


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    out = defaultdict(list)
    for past, cal, future in loader:
        pred = model(past, cal)
        out["pinball"].append(criterion(pred, future).item())
        inside = (future >= pred[..., 1]) & (future <= pred[..., -2])
        out["cover80"].append(inside.float().mean().item())
        out["crossing"].append((pred.diff(dim=-1) < 0).float().mean().item())
        out["width"].append((pred[..., -1] - pred[..., 0]).mean().item())
    model.train()
    return {k: float(np.mean(v)) for k, v in out.items()}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--clip", type=float, default=1.0)
    ap.add_argument("--seed", type=int, default=1234)
    cfg = ap.parse_args()

    torch.manual_seed(cfg.seed)
    series, hours = make_series(24 * 21, cfg.seed)
    split = 24 * 16
    train = DataLoader(LoadDataset(series[:split], hours[:split], 36, 12), cfg.batch_size, shuffle=True)
    valid = DataLoader(LoadDataset(series[split:], hours[split:], 36, 12), cfg.batch_size)

    model = QuantileForecaster(len(QUANTILES))
    criterion = PinballLoss(QUANTILES)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)

    best = float("inf")
    with tempfile.TemporaryDirectory() as tmp:
        ckpt = os.path.join(tmp, "best.pt")
        print("untrained:", {k: round(v, 4) for k, v in evaluate(model, valid, criterion).items()})
        for epoch in range(cfg.epochs):
            total = 0.0
            for past, cal, future in train:
                loss = criterion(model(past, cal), future)
                optimizer.zero_grad()
                loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
                optimizer.step()
                total += loss.item()
            scheduler.step()
            scores = evaluate(model, valid, criterion)
            print(f"epoch {epoch} train {total / len(train):.6f} norm {norm:.5f} "
                  + " ".join(f"{k} {v:.5f}" for k, v in scores.items()))
            if scores["pinball"] < best:
                best = scores["pinball"]
                torch.save(model.state_dict(), ckpt)
        model.load_state_dict(torch.load(ckpt))
    print(f"best {best:.6f}")


if __name__ == "__main__":
    main()
