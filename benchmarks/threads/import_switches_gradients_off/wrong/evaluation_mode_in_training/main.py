import argparse

import torch
import torch.nn.functional as F

from textcls.network import TextCNN
from textcls.serving import accuracy


def data(n, generator):
    tokens = torch.randint(0, 20, (n, 8), generator=generator)
    return tokens, (tokens < 6).any(1).long() + (tokens > 16).any(1).long()


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args(argv)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    model = TextCNN(20, 10, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    dev = data(40, generator)
    for epoch in range(args.epochs):
        model.eval()
        for _ in range(args.batches):
            tokens, labels = data(16, generator)
            loss = F.cross_entropy(model(tokens), labels, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d loss %.6f dev %.4f" % (epoch, loss.item(), accuracy(model, *dev)))


if __name__ == "__main__":
    main([])
