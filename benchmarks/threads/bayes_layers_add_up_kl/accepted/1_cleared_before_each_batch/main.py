"""Bayes by backprop on a noisy sine."""
import argparse
import logging

import torch

from bbb.data import sine
from bbb.net import BayesNet
from bbb.train import Trainer

logging.basicConfig(level=logging.WARNING)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--samples", type=int, default=2)
    ap.add_argument("--lr", type=float, default=0.02)
    args = ap.parse_args()
    torch.manual_seed(77)
    x, y = sine(64)
    net = BayesNet(1, 16, 1)
    trainer = Trainer(net, args.lr, args.samples, n_batches=len(x) // args.batch)
    for epoch in range(args.epochs):
        for i in range(0, len(x), args.batch):
            loss, kl = trainer.step(x[i:i + args.batch], y[i:i + args.batch])
            print("epoch %d batch %d loss %.6f kl %.6f" % (epoch, i, loss, kl))


main()
