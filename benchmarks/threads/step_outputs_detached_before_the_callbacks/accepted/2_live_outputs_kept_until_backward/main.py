import argparse

import torch

from lite.callbacks import KLAnneal, Progress
from lite.module import SeqVAE
from lite.trainer import Trainer


def batches(n, size=12):
    out = []
    for _ in range(n):
        t = torch.linspace(0, 1, 8)
        phase = torch.rand(size, 1) * 6.28
        out.append(torch.sin(6.28 * t + phase) + 0.05 * torch.randn(size, 8))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--kl-start", type=float, default=0.0)
    parser.add_argument("--kl-steps", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--precision", type=int, default=32, choices=[32])
    args = parser.parse_args()
    torch.manual_seed(9)
    trainer = Trainer(args.epochs, args.accumulate, callbacks=[KLAnneal(args.kl_start, args.kl_steps), Progress()])
    trainer.fit(SeqVAE(8, 3, lr=args.lr), batches(args.batches))


if __name__ == "__main__":
    main()
