"""Iterative training of a small click-based segmentation net (one optimiser step per simulated click)."""
import argparse
import random

import numpy as np
import torch

from data import BlobDataset
from is_model import ISModel
from trainer import ISTrainer


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--batch-size', type=int, default=8)
    parser.add_argument('--num-clicks', type=int, default=3)
    parser.add_argument('--lr', type=float, default=2e-2)
    parser.add_argument('--seed', type=int, default=7)
    return parser.parse_args()


def main():
    args = parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    model = ISModel(width=12)
    trainset = BlobDataset(n=32, size=20)
    valset = BlobDataset(n=8, size=20, offset=1000)
    trainer = ISTrainer(model, args, trainset, valset)
    for epoch in range(args.epochs):
        trainer.training(epoch)
        trainer.validation(epoch)


if __name__ == '__main__':
    main()
