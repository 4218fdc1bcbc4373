import argparse
from collections import OrderedDict

import torch
from torch import nn

from distiller import Distiller


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(2, o), nn.ReLU(), nn.MaxPool2d(2))


def make_net(width, n_classes=4):
    return nn.Sequential(OrderedDict([("block1", block(1, width)), ("block2", block(width, 2 * width)), ("flat", nn.Flatten()), ("head", nn.Linear(2 * width * 9, n_classes))]))


def pretrain(net, data, steps):
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for i in range(steps):
        x, y = data[i % len(data)]
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    for p in net.parameters():
        p.requires_grad_(False)
    return net


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--hint-epochs", type=int, default=1)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--alpha", type=float, default=0.5)
    ap.add_argument("--beta", type=float, default=2.0)
    ap.add_argument("--temperature", type=float, default=3.0)
    ap.add_argument("--lr", type=float, default=4e-3)
    opt = ap.parse_args()
    torch.manual_seed(77)
    protos = torch.randn(4, 1, 12, 12)
    data = []
    for _ in range(4):
        y = torch.randint(0, 4, (12,))
        data.append((protos[y] + 0.8 * torch.randn(12, 1, 12, 12), y))
    teacher = pretrain(make_net(8), data, 8)
    student = make_net(4)
    d = Distiller(student, teacher, torch.optim.Adam(student.parameters(), lr=opt.lr), opt)
    for epoch in range(opt.epochs):
        for i, (x, y) in enumerate(data):
            loss, hint = d.step(epoch, x, y)
            print("%d/%d loss %.5f hint %.5f" % (epoch, i, loss, hint))
