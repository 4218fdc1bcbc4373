"""
Six hours ahead for a weather station: temperature (regression) and rain yes/no (classification)
from the last two days of hourly readings. A dilated convolution net with two heads.

The trainer is the one from the cluster (DDP, gradient accumulation); on a laptop it runs with one
process and the plain module.
"""
import contextlib
import math
import os
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    history: int = 48
    ahead: int = 6
    channels: int = 12
    micro_batch: int = 16
    accumulate: int = 4
    epochs: int = 4
    lr: float = 4e-3
    weight_decay: float = 1e-3
    rain_weight: float = 0.5
    clip: float = 1.0
    seed: int = 8


def station(hours, seed):
    rng = np.random.RandomState(seed)
    t = np.arange(hours)
    front = np.convolve(rng.randn(hours), np.exp(-np.arange(36) / 12.0), mode="same")
    front = front / front.std()
    temp = 10 + 6 * np.sin(2 * np.pi * (t - 9) / 24) - 3 * front + 0.5 * rng.randn(hours)
    pressure = 1013 - 6 * np.roll(front, -4) + 0.5 * rng.randn(hours)
    humidity = np.clip(60 + 15 * front - 0.8 * (temp - 10) + 3 * rng.randn(hours), 5, 100)
    rain = (front + 0.3 * rng.randn(hours) > 0.9).astype(np.float32)
    return np.stack([temp, pressure, humidity], axis=0).astype(np.float32), rain


def windows(cfg):
    x, rain = station(24 * 40, cfg.seed)
    mean, std = x.mean(1, keepdims=True), x.std(1, keepdims=True)
    x = (x - mean) / std
    starts = range(0, x.shape[1] - cfg.history - cfg.ahead, 2)
    xs = np.stack([x[:, s:s + cfg.history] for s in starts])
    temp = np.array([x[0, s + cfg.history + cfg.ahead - 1] for s in starts])
    wet = np.array([rain[s + cfg.history:s + cfg.history + cfg.ahead].max() for s in starts])
    data = [torch.from_numpy(a.astype(np.float32)) for a in (xs, temp, wet)]
    cut = 20 * cfg.micro_batch
    return TensorDataset(*[a[:cut] for a in data]), TensorDataset(*[a[cut:] for a in data]), float(std[0, 0])


class StationNet(nn.Module):
    def __init__(self, channels, inputs=3):
        super().__init__()
        layers, width = [], inputs
        for d in (1, 2, 4, 8):
            layers += [nn.Conv1d(width, channels, 3, dilation=d, padding=d), nn.GELU()]
            width = channels
        self.trunk = nn.Sequential(*layers)
        self.temp = nn.Linear(2 * channels, 1)
        self.rain = nn.Linear(2 * channels, 1)

    def forward(self, x):
        h = self.trunk(x)
        h = torch.cat([h[..., -1], h.mean(-1)], dim=1)
        return self.temp(h).squeeze(1), self.rain(h).squeeze(1)


class Trainer:
    def __init__(self, cfg, model, train, valid, unit):
        self.cfg, self.model, self.unit = cfg, model, unit
        self.train_loader = DataLoader(train, cfg.micro_batch, shuffle=True, drop_last=True)
        self.valid_loader = DataLoader(valid, 64)
        decay = [p for p in model.parameters() if p.dim() > 1]
        plain = [p for p in model.parameters() if p.dim() <= 1]
        self.opt = torch.optim.AdamW([{"params": decay, "weight_decay": cfg.weight_decay},
                                      {"params": plain, "weight_decay": 0.0}], lr=cfg.lr)
        # gradients travel between the workers once per optimizer step, not once per micro batch
        self.no_sync = getattr(model, "no_sync", torch.no_grad)

    def loss(self, batch):
        x, temp, wet = batch
        t, r = self.model(x)
        return F.smooth_l1_loss(t, temp) + self.cfg.rain_weight * F.binary_cross_entropy_with_logits(r, wet)

    def epoch(self):
        cfg = self.cfg
        self.model.train()
        seen, norms = [], []
        for i, batch in enumerate(self.train_loader):
            last = (i + 1) % cfg.accumulate == 0
            with contextlib.nullcontext() if last else self.no_sync():
                loss = self.loss(batch)
                if loss.requires_grad:
                    (loss / cfg.accumulate).backward()
            seen.append(loss.item())
            if last:
                norms.append(nn.utils.clip_grad_norm_(self.model.parameters(), cfg.clip).item())
                self.opt.step()
                self.opt.zero_grad(set_to_none=True)
        return np.mean(seen), np.mean(norms)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        err, hit, n = 0.0, 0, 0
        for x, temp, wet in self.valid_loader:
            t, r = self.model(x)
            err += (t - temp).abs().sum().item() * self.unit
            hit += ((r > 0).float() == wet).sum().item()
            n += len(x)
        return err / n, hit / n

    def fit(self, folder):
        best = math.inf
        for e in range(self.cfg.epochs):
            loss, norm = self.epoch()
            mae, acc = self.validate()
            print(f"epoch {e}  loss {loss:.6f}  |g| {norm:.6f}  MAE {mae:.4f} degrees  rain {acc:.4f}")
            if mae < best:
                best = mae
                torch.save({"model": self.model.state_dict(), "opt": self.opt.state_dict()},
                           os.path.join(folder, "best.pt"))
        return best


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    train, valid, unit = windows(cfg)
    trainer = Trainer(cfg, StationNet(cfg.channels), train, valid, unit)
    with tempfile.TemporaryDirectory() as folder:
        best = trainer.fit(folder)
    print(f"best MAE {best:.4f}")


if __name__ == "__main__":
    main()
