#!/usr/bin/env python
"""Keyword spotting with an input gradient penalty (small stand-in for the speech commands set)."""
import argparse
import math
import random
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS = ["on", "off", "stop", "_noise_"]
RATE = 4000


class Commands:
    """clips of a quarter of a second; every word is a different pitch contour"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(RATE // 4) / RATE
        self.clips = []
        for i in range(n):
            k = i % len(WORDS)
            f0 = 240 + 60 * torch.rand(1, generator=g)
            sweep = {0: 900.0, 1: -700.0, 2: 0.0}.get(k)
            hiss = 0.05 * torch.randn(len(t), generator=g)
            if sweep is None:
                wave = 4 * hiss
            else:
                base = f0 + (700 if sweep < 0 else 0)
                phase = 2 * math.pi * (base * t + 0.5 * sweep * 2 * t ** 2)
                env = torch.exp(-((t - 0.12) / 0.07) ** 2)
                wave = env * (torch.sin(phase) + 0.4 * torch.sin(2 * phase)) + hiss
            self.clips.append({"wave": 0.5 * wave, "label": k})

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        return self.clips[i]


def collate(items):
    return torch.stack([c["wave"] for c in items]), torch.tensor([c["label"] for c in items])


def batches(data, size, rng=None):
    order = list(range(len(data)))
    if rng is not None:
        rng.shuffle(order)
    for i in range(0, len(order), size):
        yield collate([data[j] for j in order[i:i + size]])


class Frontend(nn.Module):
    def __init__(self, n_fft=128, hop=64, coef=0.95, n_bands=24):
        super().__init__()
        self.n_fft, self.hop, self.coef = n_fft, hop, coef
        self.register_buffer("window", torch.hann_window(n_fft))
        bins = n_fft // 2 + 1
        centers = torch.linspace(0, bins - 1, n_bands + 2)[1:-1]
        width = (bins - 1) / (n_bands + 1)
        tri = 1 - (torch.arange(bins)[:, None] - centers[None]).abs() / width
        self.register_buffer("bands", tri.clamp(min=0))

    def forward(self, wave):
        wave.data[:, 1:] -= self.coef * wave.data[:, :-1]          # pre-emphasis
        frames = wave.unfold(1, self.n_fft, self.hop) * self.window
        spec = torch.fft.rfft(frames)
        power = spec.real ** 2 + spec.imag ** 2
        return torch.log(power @ self.bands + 1e-3).transpose(1, 2)


class SpotNet(nn.Module):
    def __init__(self, n_words, n_bands=24, width=32):
        super().__init__()
        self.frontend = Frontend(n_bands=n_bands)
        self.norm = nn.GroupNorm(1, n_bands)
        self.conv1 = nn.Conv1d(n_bands, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, padding=1, groups=4)
        self.fc = nn.Linear(width, n_words)

    def forward(self, wave):
        h = self.norm(self.frontend(wave))
        h = F.softplus(self.conv1(h))
        h = F.softplus(self.conv2(h))
        return self.fc(h.mean(2))


class Learner:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt
        self.optim = torch.optim.AdamW(model.parameters(), lr=opt.lr, weight_decay=1e-3)
        total = opt.epochs * math.ceil(opt.n_train / opt.batch)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.optim, max_lr=opt.lr, total_steps=total)

    def losses(self, wave, label):
        wave.requires_grad_(True)
        ce = F.cross_entropy(self.model(wave), label)
        g, = torch.autograd.grad(ce * len(wave), wave, create_graph=True)
        return ce, g.pow(2).sum(1).mean()

    def train_epoch(self, data, rng):
        self.model.train()
        log = []
        for wave, label in batches(data, self.opt.batch, rng):
            ce, penalty = self.losses(wave, label)
            loss = ce + self.opt.gp * penalty
            self.optim.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
            self.optim.step()
            self.sched.step()
            log.append((ce.item(), penalty.item()))
        return [sum(v) / len(log) for v in zip(*log)]

    @torch.no_grad()
    def evaluate(self, data):
        self.model.eval()
        hit, ce = 0, 0.0
        for wave, label in batches(data, self.opt.batch):
            logits = self.model(wave)
            ce += F.cross_entropy(logits, label, reduction="sum").item()
            hit += (logits.argmax(1) == label).sum().item()
        return ce / len(data), hit / len(data)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=24)
    p.add_argument("--n-train", type=int, default=96)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--gp", type=float, default=0.05, help="weight of the input gradient penalty")
    opt = p.parse_args()

    torch.manual_seed(12)
    rng = random.Random(12)
    train, valid = Commands(opt.n_train, 1), Commands(48, 2)
    learner = Learner(SpotNet(len(WORDS)), opt)
    ckpt = Path(tempfile.mkdtemp()) / "spot.pt"
    for epoch in range(opt.epochs):
        ce, gp = learner.train_epoch(train, rng)
        va, acc = learner.evaluate(valid)
        print(f"{epoch} ce {ce:.6f} penalty {gp:.6f} valid {va:.6f} acc {acc:.4f}")
        torch.save(learner.model.state_dict(), ckpt)


if __name__ == "__main__":
    main()
