"""Keyword spotting with a learned front end (filterbank + root compression) and SpecAugment on top of it."""
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class LearnedFilterbank(nn.Module):
    """|conv|^2 -> pooled energy -> energy ** alpha, alpha per band is trained."""

    def __init__(self, n_bands=10, width=16, hop=8):
        super().__init__()
        self.filters = nn.Conv1d(1, n_bands, width, stride=hop // 2, bias=False)
        self.raw_alpha = nn.Parameter(torch.zeros(n_bands, 1))

    def forward(self, wav):
        e = self.filters(wav.unsqueeze(1)).pow(2)
        e = F.avg_pool1d(e, 2) + 1e-3
        return e.pow(torch.sigmoid(self.raw_alpha))      # (batch, bands, frames)


class SpecAugment:
    def __init__(self, freq_width=3, time_width=5, n_masks=1, seed=0):
        self.freq_width, self.time_width, self.n_masks = freq_width, time_width, n_masks
        self.rng = random.Random(seed)

    def spans(self, bands, frames):
        f = self.rng.randint(1, self.freq_width)
        f0 = self.rng.randint(0, bands - f)
        t = self.rng.randint(1, self.time_width)
        t0 = self.rng.randint(0, frames - t)
        return f0, f0 + f, t0, t0 + t

    def __call__(self, feats):
        for i in range(feats.size(0)):
            for _ in range(self.n_masks):
                f0, f1, t0, t1 = self.spans(feats.size(1), feats.size(2))
                feats[i, f0:f1, :] = 0.0
                feats[i, :, t0:t1] = 0.0
        return feats


class Callback:
    def on_epoch_end(self, epoch, logs):
        pass


class Printer(Callback):
    def on_epoch_end(self, epoch, logs):
        print("epoch %d %s" % (epoch, " ".join("%s %.6f" % kv for kv in sorted(logs.items()))))


class Learner:
    def __init__(self, frontend, classifier, augment, lr, callbacks=()):
        self.frontend, self.classifier, self.augment = frontend, classifier, augment
        self.callbacks = list(callbacks)
        params = list(frontend.parameters()) + list(classifier.parameters())
        self.opt = torch.optim.Adam(params, lr=lr)

    def step(self, wav, label):
        feats = self.frontend(wav)
        if self.augment is not None:
            feats = self.augment(feats)
        loss = F.cross_entropy(self.classifier(feats.mean(-1)), label)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, wav, label, epochs, batch):
        for epoch in range(epochs):
            ls = [self.step(wav[i:i + batch], label[i:i + batch]) for i in range(0, len(wav), batch)]
            logs = {"loss": sum(ls) / len(ls), "alpha": torch.sigmoid(self.frontend.raw_alpha).mean().item()}
            for cb in self.callbacks:
                cb.on_epoch_end(epoch, logs)


def tones(n, length=160):
    label = torch.randint(0, 3, (n,))
    t = torch.arange(length).float()
    freq = 0.15 + 0.25 * label.float()
    return torch.sin(freq[:, None] * t + torch.rand(n, 1) * 6.28) + 0.2 * torch.randn(n, length), label


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--time-warp", type=int, default=0)    # todo
    a = p.parse_args()
    torch.manual_seed(16)
    wav, label = tones(24)
    learner = Learner(LearnedFilterbank(), nn.Linear(10, 3), SpecAugment(seed=4), a.lr, [Printer()])
    learner.fit(wav, label, a.epochs, a.batch)


if __name__ == "__main__":
    main()
