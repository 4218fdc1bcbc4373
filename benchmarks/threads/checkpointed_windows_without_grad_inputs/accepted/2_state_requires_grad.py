#!/usr/bin/env python3
"""Long sensor streams with a two-layer GRU: truncated BPTT over windows, every window is activation-checkpointed
because the real windows have 20k samples."""
import argparse
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


@dataclass
class Config:
    channels: int = 4
    hidden: int = 20
    layers: int = 2
    window: int = 12
    windows: int = 8
    batch: int = 6
    lr: float = 5e-3
    dropout: float = 0.1
    ckpt: bool = True


class StreamGRU(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cells = nn.ModuleList(nn.GRUCell(cfg.channels if i == 0 else cfg.hidden, cfg.hidden) for i in range(cfg.layers))
        self.drop = nn.Dropout(cfg.dropout)
        self.head = nn.Linear(cfg.hidden, cfg.channels)

    def encode(self, x, h):
        """x: T B C, h: layers B H"""
        states, outs = list(h.unbind(0)), []
        for x_t in x:
            inp = x_t
            for i, cell in enumerate(self.cells):
                states[i] = cell(inp, states[i])
                inp = self.drop(states[i]) if i + 1 < len(self.cells) else states[i]
            outs.append(inp)
        return torch.stack(outs), torch.stack(states)

    def window_loss(self, x, y, h):
        out, h = self.encode(x, h)
        return F.smooth_l1_loss(self.head(out), y), h


class StreamTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = StreamGRU(cfg)
        self.opt = torch.optim.RMSprop(self.model.parameters(), lr=cfg.lr)

    def initial_state(self):
        return torch.zeros(self.cfg.layers, self.cfg.batch, self.cfg.hidden)

    def fit_stream(self, stream):
        cfg = self.cfg
        h = self.initial_state()
        losses = []
        for w in range(cfg.windows):
            lo = w * cfg.window
            x, y = stream[lo:lo + cfg.window], stream[lo + 1:lo + cfg.window + 1]
            if cfg.ckpt:
                loss, h = checkpoint(self.model.window_loss, x, y, h.requires_grad_(), use_reentrant=True)
            else:
                loss, h = self.model.window_loss(x, y, h)
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            h = h.detach()
            losses.append(loss.item())
        return losses


def sensor_stream(cfg):
    n = cfg.window * cfg.windows + 1
    t = torch.arange(n).float()[:, None, None]
    freq = 0.05 + 0.3 * torch.rand(1, cfg.batch, cfg.channels)
    return torch.sin(freq * t + torch.rand(1, cfg.batch, 1)) + 0.05 * torch.randn(n, cfg.batch, cfg.channels)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--no-ckpt", action="store_true")
    ap.add_argument("--streams", type=int, default=2)
    a = ap.parse_args()
    torch.manual_seed(14)
    cfg = Config(ckpt=not a.no_ckpt)
    trainer = StreamTrainer(cfg)
    for s in range(a.streams):
        losses = trainer.fit_stream(sensor_stream(cfg))
        print("stream", s, " ".join(f"{v:.5f}" for v in losses))


if __name__ == "__main__":
    main()
