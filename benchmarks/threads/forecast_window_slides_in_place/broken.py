"""Load forecasting.  Free-running training: the horizon is rolled out with the model's own outputs and we want the
gradient through the whole roll-out (that is the point, teacher forcing gave drifting forecasts)."""
import argparse
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Windows:
    def __init__(self, series, lookback, horizon):
        idx = range(0, len(series) - lookback - horizon, 3)
        self.x = torch.stack([series[i:i + lookback] for i in idx])
        self.y = torch.stack([series[i + lookback:i + lookback + horizon] for i in idx])

    def loader(self, batch_size):
        return DataLoader(TensorDataset(self.x, self.y), batch_size=batch_size, shuffle=False, drop_last=True)


class TCN(nn.Module):
    """two dilated convolutions over the window, one value out"""

    def __init__(self, channels, lookback, skip=True):
        super().__init__()
        self.c1 = nn.Conv1d(1, channels, 3, padding=1)
        self.c2 = nn.Conv1d(channels, channels, 3, padding=2, dilation=2)
        self.out = nn.Linear(channels * lookback, 1)
        self.skip = skip

    def forward(self, w):
        h = torch.tanh(self.c1(w.unsqueeze(1)))
        h = torch.tanh(self.c2(h))
        y = self.out(h.flatten(1)).squeeze(1)
        return y + w[:, -1] if self.skip else y


class Forecaster:
    def __init__(self, model, horizon, lr, clip):
        self.model, self.horizon, self.clip = model, horizon, clip
        self.optim = torch.optim.AdamW(model.parameters(), lr=lr)
        self.criterion = nn.SmoothL1Loss()

    def roll_out(self, x):
        window = x.clone()
        preds = []
        for h in range(self.horizon):
            pred = self.model(window)
            preds.append(pred)
            # slide by one and append the prediction
            window[:, :-1] = window[:, 1:].clone()
            window[:, -1] = pred
        return torch.stack(preds, dim=1)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for x, y in loader:
                self.optim.zero_grad()
                loss = self.criterion(self.roll_out(x), y)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                self.optim.step()
                total += loss.item()
            print("epoch {} train {:.6f}".format(epoch, total / len(loader)))

    @torch.no_grad()
    def mae_per_step(self, x, y):
        return (self.roll_out(x) - y).abs().mean(0)


def load_curve(n):
    t = torch.arange(n, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.4 * torch.sin(2 * math.pi * t / 168 + 1.0)
    return daily + weekly + 0.1 * torch.randn(n)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lookback", type=int, default=16)
    ap.add_argument("--horizon", type=int, default=5)
    ap.add_argument("--channels", type=int, default=6)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--clip", type=float, default=1.0)
    args = ap.parse_args()
    torch.manual_seed(0)
    data = Windows(load_curve(360), args.lookback, args.horizon)
    f = Forecaster(TCN(args.channels, args.lookback), args.horizon, args.lr, args.clip)
    f.fit(data.loader(args.batch), args.epochs)
    print("mae", " ".join("%.5f" % v for v in f.mae_per_step(data.x, data.y).tolist()))


if __name__ == "__main__":
    main()
