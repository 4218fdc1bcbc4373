import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Conv2dWS(nn.Conv2d):
    """Convolution with weight standardisation. The raw weight is what the optimizer trains."""

    def forward(self, x):
        weight = self.weight
        weight_mean = weight.mean(dim=(1, 2, 3), keepdim=True)
        weight -= weight_mean
        std = weight.view(weight.size(0), -1).std(dim=1).view(-1, 1, 1, 1) + 1e-5
        weight /= std
        return F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


def conv3x3(cin, cout, ws=True):
    cls = Conv2dWS if ws else nn.Conv2d
    return cls(cin, cout, 3, padding=1, bias=False)


class Block(nn.Module):
    def __init__(self, c, ws):
        super().__init__()
        self.conv1 = conv3x3(c, c, ws)
        self.gn1 = nn.GroupNorm(2, c)
        self.conv2 = conv3x3(c, c, ws)
        self.gn2 = nn.GroupNorm(2, c)

    def forward(self, x):
        out = F.relu(self.gn1(self.conv1(x)))
        out = self.gn2(self.conv2(out))
        return F.relu(out + x)


class TinyResNet(nn.Module):
    def __init__(self, c=6, n_class=4, ws=True):
        super().__init__()
        self.stem = conv3x3(1, c, ws)
        self.block = Block(c, ws)
        self.fc = nn.Linear(c, n_class)

    def forward(self, x):
        x = self.block(F.relu(self.stem(x)))
        return self.fc(x.mean(dim=(2, 3)))


def quadrants(n, size=8):
    """which quadrant is bright?"""
    y = torch.randint(0, 4, (n,))
    x = 0.5 * torch.randn(n, 1, size, size)
    h = size // 2
    for i, q in enumerate(y.tolist()):
        r, c = divmod(q, 2)
        x[i, 0, r * h:(r + 1) * h, c * h:(c + 1) * h] += 1.0 + 0.5 * q
    return x, y


def adjust_lr(optimizer, epoch, base):
    lr = base * (0.5 ** (epoch // 2))
    for g in optimizer.param_groups:
        g["lr"] = lr
    return lr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-ws", action="store_true")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--wd", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=8)   # micro-batches, that is why GN + WS
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(1903)

    x, y = quadrants(24)
    model = TinyResNet(ws=not args.no_ws)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.wd)
    for epoch in range(args.epochs):
        lr = adjust_lr(optimizer, epoch, args.lr)
        running = 0.0
        for i in range(0, len(x), args.batch):
            loss = F.cross_entropy(model(x[i:i + args.batch]), y[i:i + args.batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print("epoch %d lr %.4f loss %.6f |w| %.5f" % (epoch, lr, running / 3, model.stem.weight.norm().item()))


if __name__ == "__main__":
    main()
