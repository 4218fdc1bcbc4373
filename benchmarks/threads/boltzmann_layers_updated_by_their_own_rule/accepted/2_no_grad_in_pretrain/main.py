"""Deep belief network: greedy pretraining by contrastive divergence, then fine-tuning by backprop."""
import argparse

import torch

from data import stripes
from dbn import DBN, FineTuner


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, nargs="+", default=[16, 12, 8])
    parser.add_argument("--cd-epochs", type=int, default=4)
    parser.add_argument("--cd-lr", type=float, default=0.2)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=9)
    args = parser.parse_args(argv)

    torch.manual_seed(args.seed)
    x, y = stripes(48)
    dbn = DBN(args.layers, n_classes=2)
    tuner = FineTuner(dbn, lr=args.lr)

    for i, err in enumerate(dbn.pretrain(x, epochs=args.cd_epochs, lr=args.cd_lr)):
        print(f"rbm {i} reconstruction error {err:.6f}")
    for epoch in range(args.epochs):
        loss, acc = tuner.epoch(x, y)
        print(f"epoch {epoch} loss {loss:.6f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
