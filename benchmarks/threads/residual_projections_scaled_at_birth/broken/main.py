"""Trains a character-level toy on additions like 12+7=19 (chargpt for people without a GPU)."""
import argparse

import torch

from gpt.model import GPT, GPTConfig
from gpt.trainer import Trainer, TrainerConfig


def addition_batches(n, size, block):
    for _ in range(n):
        a, b = torch.randint(0, 5, (size,)), torch.randint(0, 5, (size,))
        s = a + b
        seq = torch.stack([a, torch.full_like(a, 10), b, torch.full_like(a, 11), s], dim=1)
        yield seq[:, :block], seq[:, 1:block + 1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n-layer", type=int, default=3)
    parser.add_argument("--n-embd", type=int, default=8)
    parser.add_argument("--iters", type=int, default=6)
    parser.add_argument("--weight-decay", type=float, default=0.1)
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(3407)
    config = GPTConfig(vocab_size=12, block_size=4, n_layer=args.n_layer, n_head=2, n_embd=args.n_embd)
    model = GPT(config)
    trainer = Trainer(model, TrainerConfig(learning_rate=5e-3, weight_decay=args.weight_decay))
    trainer.run(addition_batches(args.iters, 16, config.block_size))
