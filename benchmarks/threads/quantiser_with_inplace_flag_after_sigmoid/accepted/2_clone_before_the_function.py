"""Activation quantisation in the manner of DoReFa, with a straight-through estimator. (from my notebook, cell 3-7)"""
import argparse

import torch
from torch import nn
from torch.autograd import Function


def n_levels(bits):
    return 2 ** bits - 1


class LinearQuantizeSTE(Function):
    @staticmethod
    def forward(ctx, input, scale, inplace=False):
        if inplace:
            ctx.mark_dirty(input)
            return input.mul_(scale).round_().div_(scale)
        return torch.round(input * scale) / scale

    @staticmethod
    def backward(ctx, grad_output):
        # Straight-through estimator
        return grad_output, None, None


class QuantAct(nn.Module):
    """Squash to (0, 1), then keep `bits` bits."""

    def __init__(self, bits, inplace=True):
        super().__init__()
        self.bits = bits
        self.inplace = inplace
        self.squash = nn.Sigmoid()

    def forward(self, x):
        x = self.squash(x)
        if self.bits >= 32:
            return x
        x = LinearQuantizeSTE.apply(x.clone(), float(n_levels(self.bits)), self.inplace)
        return x

    def extra_repr(self):
        return "bits=%d, inplace=%s" % (self.bits, self.inplace)


class SmallQuantNet(nn.Module):
    def __init__(self, d_in, width, n_class, a_bits):
        super().__init__()
        self.features = nn.Sequential(
            nn.Linear(d_in, width), QuantAct(a_bits),
            nn.Linear(width, width), QuantAct(a_bits),
        )
        self.head = nn.Linear(width, n_class)

    def forward(self, x):
        return self.head(self.features(x))


def synthetic(n, d, c):
    x = torch.randn(n, d)
    w = torch.randn(d, c)
    return x, (x @ w).argmax(1)


class AverageMeter(object):
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, v, n=1):
        self.sum += v * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(1, self.count)


def train(net, data, optimizer, criterion, batch):
    meter = AverageMeter()
    x, y = data
    for i in range(0, len(x), batch):
        out = net(x[i:i + batch])
        loss = criterion(out, y[i:i + batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(loss.item(), len(out))
    return meter.avg


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--a_bits", type=int, default=2)
    parser.add_argument("--w_bits", type=int, default=32, help="not yet")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.2)
    args = parser.parse_args()

    torch.manual_seed(77)
    data = synthetic(64, 10, 4)
    net = SmallQuantNet(10, 16, 4, args.a_bits)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        print("epoch %d  loss %.6f" % (epoch, train(net, data, opt, nn.CrossEntropyLoss(), 16)))
