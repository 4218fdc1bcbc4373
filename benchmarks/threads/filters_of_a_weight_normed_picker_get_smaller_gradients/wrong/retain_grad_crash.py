import argparse
import os
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


@dataclass
class Config:
    channels: tuple = (8, 12, 16)
    kernel: int = 5
    window: int = 96
    batch: int = 16
    pretrain_steps: int = 6
    finetune_steps: int = 10
    lr: float = 0.15
    decay: float = 0.4      # gradient factor per block, counted from the head
    clip: float = 1.0
    seed: int = 41


class Seismograms:
    """One component, P onset somewhere in the window. Networks differ in noise and frequency."""

    def __init__(self, window, freq, noise, seed):
        self.rng = np.random.RandomState(seed)
        self.window, self.freq, self.noise = window, freq, noise

    def batch(self, n):
        t = np.arange(self.window)
        x = self.noise * self.rng.randn(n, self.window)
        onset = self.rng.randint(20, self.window - 30, n)
        y = np.zeros((n, self.window))
        for i, o in enumerate(onset):
            tail = np.clip(t - o, 0, None)
            x[i] += (t >= o) * np.exp(-tail / 18.0) * np.sin(2 * np.pi * self.freq * tail)
            y[i] = np.exp(-0.5 * ((t - o) / 3.0) ** 2)
        x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        return torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class TemporalBlock(nn.Module):
    def __init__(self, c_in, c_out, kernel, dilation):
        super().__init__()
        self.pad = (kernel - 1) * dilation // 2
        self.conv = weight_norm(nn.Conv1d(c_in, c_out, kernel, dilation=dilation, padding=self.pad))
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x):
        return F.elu(self.conv(x)) + self.skip(x)


class PhasePicker(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = (1,) + tuple(cfg.channels)
        self.blocks = nn.ModuleList(
            TemporalBlock(c[i], c[i + 1], cfg.kernel, 2 ** i) for i in range(len(cfg.channels)))
        self.head = nn.Conv1d(c[-1], 1, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(1)


def picking_loss(logits, y):
    return F.binary_cross_entropy_with_logits(logits, y, pos_weight=torch.tensor(4.0))


@torch.no_grad()
def pick_error(model, x, y):
    model.eval()
    err = (model(x).argmax(1) - y.argmax(1)).abs().float().mean().item()
    model.train()
    return err


def scale_gradients(model, decay):
    """discriminative fine-tuning: the nearer to the input, the smaller the step of the filters"""
    depth = len(model.blocks)
    for i, block in enumerate(model.blocks):
        factor = decay ** (depth - i)
        block.conv.weight.retain_grad()
        block.conv.weight.grad.mul_(factor)
        block.conv.bias.grad.mul_(factor)


def fit(model, data, steps, cfg, lr, decay=None, tag=""):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for step in range(steps):
        x, y = data.batch(cfg.batch)
        loss = picking_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        if decay is not None:
            scale_gradients(model, decay)
        norm = nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        optimizer.step()
        if step % 2 == 0:
            print(f"{tag:9s} {step:3d}  loss {loss.item():.6f}  |g| {norm.item():.5f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--decay", type=float, default=Config.decay)
    ap.add_argument("--seed", type=int, default=Config.seed)
    a = ap.parse_args()
    cfg = Config(decay=a.decay, seed=a.seed)
    torch.manual_seed(cfg.seed)

    model = PhasePicker(cfg)
    regional = Seismograms(cfg.window, 0.11, 0.25, cfg.seed)
    volcano = Seismograms(cfg.window, 0.05, 0.40, cfg.seed + 1)
    x_val, y_val = Seismograms(cfg.window, 0.05, 0.40, cfg.seed + 2).batch(32)

    fit(model, regional, cfg.pretrain_steps, cfg, cfg.lr, tag="pretrain")
    print(f"pick error before fine-tuning {pick_error(model, x_val, y_val):.4f}")
    with tempfile.TemporaryDirectory() as tmp:
        torch.save(model.state_dict(), os.path.join(tmp, "regional.pt"))
        model.load_state_dict(torch.load(os.path.join(tmp, "regional.pt")))
    fit(model, volcano, cfg.finetune_steps, cfg, cfg.lr * 0.5, decay=cfg.decay, tag="finetune")
    print(f"pick error after fine-tuning {pick_error(model, x_val, y_val):.4f}")
    with torch.no_grad():
        print(f"validation loss {picking_loss(model(x_val), y_val).item():.6f}")


if __name__ == "__main__":
    main()
