"""MoE language model on a toy corpus. With --accum 1 this has been running for weeks, the
error only came when I had to accumulate because of the memory."""
import argparse

import torch

from moe import TinyMoE
from trainer import Trainer


def corpus(n, length=9, vocab=20):
    for _ in range(n):
        start = torch.randint(0, vocab, (4, 1))
        step = torch.randint(1, 4, (4, 1))
        yield (start + step * torch.arange(length)) % vocab


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--accum", type=int, default=3)
    parser.add_argument("--aux", type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(11)
    model = TinyMoE()
    trainer = Trainer(model, accum=args.accum, aux_coef=args.aux)
    for epoch in range(2):
        trainer.history.clear()
        hist = trainer.fit(corpus(9))
        print("epoch", epoch, " ".join("%.6f" % h for h in hist))
    for layer in model.layers:
        print("load", " ".join("%.6f" % v for v in (layer.load / layer.load.sum()).tolist()))
