import argparse

import torch

from binaryconnect import BinaryConnect
from net import SmallNet
from loop import evaluate, train_epoch


def blobs(n, dim, classes, gen):
    centres = torch.randn(classes, dim, generator=gen)
    y = torch.randint(0, classes, (n,), generator=gen)
    return centres[y] + 0.8 * torch.randn(n, dim, generator=gen), y


def main():
    ap = argparse.ArgumentParser(description="BinaryConnect")
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=40)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--hidden", type=int, default=24)
    ap.add_argument("--no-scale", action="store_true", help="weights in {-1, 1} as in the paper")
    args = ap.parse_args()
    torch.manual_seed(23)
    gen = torch.Generator().manual_seed(23)
    x, y = blobs(160, 10, 4, gen)
    net = SmallNet(10, args.hidden, 4)
    bin_op = BinaryConnect(net, scale=not args.no_scale)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train_epoch(net, bin_op, optimizer, x, y, args.batch_size)
        acc, val = evaluate(net, bin_op, x, y)
        print("epoch %d loss %.6f binary loss %.6f acc %.4f" % (epoch, loss, val, acc))


if __name__ == "__main__":
    main()
