"""Data-free quantisation: equalise, absorb, then a short quantisation-aware fine-tuning."""
import argparse

import torch

from equalize import cross_layer_equalization, layer_pairs
from net import SmallCNN
from qat import QATTrainer, quantise


def synthetic(n, generator):
    y = torch.randint(0, 4, (n,), generator=generator)
    x = torch.randn(n, 2, 8, 8, generator=generator) * 0.5
    for i, label in enumerate(y.tolist()):
        x[i, label % 2, (label // 2) * 4 : (label // 2) * 4 + 4] += 1.0
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bits", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--no-equalize", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(21)
    g = torch.Generator().manual_seed(22)
    model = SmallCNN()
    model.imbalance(g)
    trainer = QATTrainer(model, args.lr)
    print(f"range before {model.weight_range():.4f}")
    if not args.no_equalize:
        ranges = cross_layer_equalization(layer_pairs(model), sweeps=3)
        print("sweeps", " ".join(f"{r:.5f}" for r in ranges))
    quantise(model, args.bits)
    losses = trainer.fit(lambda: synthetic(24, g), args.steps)
    print(f"range after {model.weight_range():.4f}")
    print("loss", " ".join(f"{v:.5f}" for v in losses[::2]))
    x, y = synthetic(96, g)
    print(f"accuracy {trainer.accuracy(x, y):.4f}")


if __name__ == "__main__":
    main()
