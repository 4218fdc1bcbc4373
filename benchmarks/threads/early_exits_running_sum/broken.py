"""
MSDNet 风格的多出口网络：每个出口都有一个分类器，损失加权求和
"""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument('--exits', type=int, default=3)
parser.add_argument('--width', type=int, default=8)
parser.add_argument('--classes', type=int, default=4)
parser.add_argument('--iters', type=int, default=6)
parser.add_argument('--lr', type=float, default=0.05)
args = parser.parse_args()


class Block(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv = nn.Conv2d(ch, ch, 3, padding=1)
        self.norm = nn.GroupNorm(2, ch)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class Exit(nn.Module):
    def __init__(self, ch, num):
        super().__init__()
        self.fc = nn.Linear(ch, num)

    def forward(self, x):
        return self.fc(x.mean((2, 3)))


class MultiExitNet(nn.Module):
    def __init__(self, width, exits, num):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList([Block(width) for _ in range(exits)])
        self.exits = nn.ModuleList([Exit(width, num) for _ in range(exits)])

    def forward(self, x):
        x = self.stem(x)
        res = []
        for block, head in zip(self.blocks, self.exits):
            x = block(x)
            res.append(head(x))
        return res


class Meter:
    def __init__(self):
        self.sum = self.n = 0

    def update(self, v, n=1):
        self.sum += v * n
        self.n += n

    @property
    def avg(self):
        return self.sum / max(self.n, 1)


def data(n):
    g = torch.Generator().manual_seed(4)
    proto = torch.randn(args.classes, 1, 8, 8, generator=g)
    for _ in range(n):
        y = torch.randint(args.classes, (12,), generator=g)
        yield proto[y] + 0.8 * torch.randn(12, 1, 8, 8, generator=g), y


def train(model, optimizer, weights):
    losses, top1 = Meter(), [Meter() for _ in weights]
    for i, (x, target) in enumerate(data(args.iters)):
        output = model(x)
        optimizer.zero_grad()
        # 各出口的损失之和
        loss = 0.0
        for j in range(len(output)):
            loss += weights[j] * F.cross_entropy(output[j], target)
            loss.backward()
        optimizer.step()

        losses.update(loss.item(), x.size(0))
        for j in range(len(output)):
            top1[j].update((output[j].argmax(1) == target).float().mean().item(), x.size(0))
        print('iter %d loss %.6f (%.6f) ' % (i, loss.item(), losses.avg) + ' '.join('%.4f' % t.avg for t in top1))


torch.manual_seed(0)
net = MultiExitNet(args.width, args.exits, args.classes)
train(net, torch.optim.SGD(net.parameters(), args.lr, momentum=0.9, weight_decay=1e-4), [1.0, 0.7, 0.5][:args.exits])
