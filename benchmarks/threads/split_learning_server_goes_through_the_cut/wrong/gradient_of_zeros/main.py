# -*- coding: utf-8 -*-
"""Split learning (U is later): two hospitals hold features, the server holds labels."""
import argparse
import torch
import torch.nn as nn

from parties import Client, Server


def make_data(n, widths):
    base = torch.randn(n, 4)
    feats = [base @ torch.randn(4, w) + 0.1 * torch.randn(n, w) for w in widths]
    labels = (base[:, 0] + base[:, 1] * base[:, 2] > 0).long()
    return feats, labels


class SplitNN:
    def __init__(self, clients, server):
        self.clients = clients
        self.server = server

    def zero_grads(self):
        for c in self.clients:
            c.optimizer.zero_grad()
        self.server.optimizer.zero_grad()

    def train_batch(self, xs, y):
        self.zero_grads()
        # 1) clients send their smashed data
        smashed = [c.forward(x) for c, x in zip(self.clients, xs)]
        # 2) the server finishes the forward pass and returns the gradients at the cut layer
        loss, grads = self.server.train_step(smashed, y)
        # 3) clients go on with the backward pass
        for c, g in zip(self.clients, grads):
            c.backward(g)
        self.server.optimizer.step()
        for c in self.clients:
            c.optimizer.step()
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--cut", type=int, default=5, help="width of the cut layer")
    ap.add_argument("--dp_noise", type=float, default=0.0)
    args = ap.parse_args()
    torch.manual_seed(11)
    widths = (3, 6)
    feats, labels = make_data(64, widths)
    clients = [Client(w, args.cut, lr=0.1, name=f"hospital{i}") for i, w in enumerate(widths)]
    net = SplitNN(clients, Server(args.cut * len(widths), 2, lr=0.1))
    for epoch in range(args.epochs):
        running = 0.0
        for i in range(0, 64, args.batch):
            running += net.train_batch([f[i:i + args.batch] for f in feats], labels[i:i + args.batch])
        print(f"epoch {epoch} loss {running / (64 // args.batch):.6f}")
    print("last gradient norms", [f"{c.grad_norm:.6f}" for c in clients])


if __name__ == "__main__":
    main()
