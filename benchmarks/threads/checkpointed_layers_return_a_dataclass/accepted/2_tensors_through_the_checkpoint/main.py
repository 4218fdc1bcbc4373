"""Adapter tuning of a small frozen language model, activations checkpointed to save memory."""
import argparse

import torch
import torch.nn.functional as F

from model import TinyLM
from train import Trainer


def corpus(n, length, vocab):
    start = torch.randint(vocab, (n, 1))
    stride = torch.randint(1, 4, (n, 1))
    return (start + stride * torch.arange(length)) % vocab


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--vocab", type=int, default=17)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--layers", type=int, default=3)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=2e-2)
    ap.add_argument("--no-checkpointing", action="store_true")
    args = ap.parse_args()

    torch.manual_seed(31)
    model = TinyLM(args.vocab, args.dim, args.layers)
    model.gradient_checkpointing = not args.no_checkpointing
    trainer = Trainer(model, lr=args.lr)
    data = corpus(24, 9, args.vocab)
    for epoch in range(args.epochs):
        loss, balance = trainer.epoch(data.split(args.batch))
        print(f"epoch {epoch}: loss {loss:.6f} router balance {balance:.6f}")
