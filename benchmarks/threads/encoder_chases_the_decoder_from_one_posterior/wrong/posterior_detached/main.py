import argparse
import random

import numpy as np
import torch

from lagvae import SentenceVAE, AggressiveTrainer, make_bags, split


def get_args():
    parser = argparse.ArgumentParser(description="Neural topic VAE on support tickets")
    parser.add_argument("--vocab", type=int, default=60)
    parser.add_argument("--topics", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--aggressive-epochs", type=int, default=2)
    parser.add_argument("--burn", type=int, default=5)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--kl-start", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=783435)
    return parser.parse_args()


def main(args):
    random.seed(args.seed)
    np.random.seed(args.seed % 2 ** 31)
    torch.manual_seed(args.seed)

    bags = make_bags(n=192, vocab=args.vocab, topics=args.topics, words=40)
    train, valid = split(bags, 0.75)
    model = SentenceVAE(args.vocab, args.hidden, args.topics)
    trainer = AggressiveTrainer(model, lr=args.lr, burn=args.burn)

    kl_weight = args.kl_start
    anneal = (1.0 - args.kl_start) / (args.epochs * (len(train) // args.batch_size))
    for epoch in range(args.epochs):
        aggressive = epoch < args.aggressive_epochs
        order = torch.randperm(len(train))
        losses = []
        for idx in order.split(args.batch_size):
            kl_weight = min(1.0, kl_weight + anneal)
            losses.append(trainer.step(train[idx], kl_weight, aggressive))
        elbo, mi = trainer.validate(valid)
        mark = "*" if aggressive else " "
        print(f"[{mark}] epoch {epoch} loss {np.mean(losses):.5f} valid elbo {elbo:.5f} mi {mi:.5f}")
    print(f"encoder norm {trainer.norm(model.encoder):.5f} decoder norm {trainer.norm(model.decoder):.5f}")


if __name__ == "__main__":
    main(get_args())
