import math

import torch

from config import Config
from tapnet import SeqClassifier
from trainer import Trainer


def make_sequences(n, length, gen):
    """class = which of three frequencies carries a burst somewhere in the series"""
    t = torch.arange(length, dtype=torch.float32)
    y = torch.randint(0, 3, (n,), generator=gen)
    start = torch.randint(0, length - 6, (n,), generator=gen)
    x = 0.5 * torch.randn(n, length, 2, generator=gen)
    for i in range(n):
        w = torch.sin(2 * math.pi * (0.1 + 0.12 * y[i]) * t[:6])
        x[i, start[i]:start[i] + 6, 0] += 1.5 * w
        x[i, start[i]:start[i] + 6, 1] -= w
    return x, y


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    train, val = make_sequences(48, cfg.length, gen), make_sequences(32, cfg.length, gen)
    model = SeqClassifier(2, cfg.units, 3, cfg.attention_width)
    trainer = Trainer(model, cfg)
    best = trainer.fit(train, val)
    loss, acc = trainer.evaluate(best, *val)
    print("best model: val loss %.6f acc %.4f" % (loss, acc))
    print("attention on the burst %.6f" % trainer.peak_attention(best, val[0]))
