# Learning without Memorizing: 增量学习，用 Grad-CAM 注意力图蒸馏旧任务
import argparse
import copy

import torch
import torch.nn.functional as F

from cam import attention_distillation
from net import IncrementalNet


def make_task(classes, per_class, size=8):
    xs, ys = [], []
    for c in classes:
        x = 0.4 * torch.randn(per_class, 1, size, size)
        x[:, 0, c % size, :] += 1.0
        x[:, 0, :, (3 * c) % size] += 0.5
        xs.append(x)
        ys.append(torch.full((per_class,), c))
    perm = torch.randperm(len(classes) * per_class)
    return torch.cat(xs)[perm], torch.cat(ys)[perm]


def train_task(net, old, data, args, tag):
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    x, y = data
    for epoch in range(args.epochs):
        tot = 0.0
        for i in range(0, len(x), args.batch):
            xb, yb = x[i:i + args.batch], y[i:i + args.batch]
            optimizer.zero_grad()
            feat, out = net(xb)
            loss = F.cross_entropy(out, yb)
            if old is not None:
                feat_o, out_o = old(xb)
                k = out_o.size(1)
                loss = loss + args.beta * F.mse_loss(out[:, :k], out_o.detach())
                loss = loss + args.gamma * attention_distillation(feat_o, out_o, feat, out[:, :k])
            loss.backward()
            optimizer.step()
            tot += loss.item()
        print("%s epoch %d loss %.6f" % (tag, epoch, tot))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.03)
    parser.add_argument("--beta", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.3)
    parser.add_argument("--exemplars", type=int, default=0)  # LwM 不存样本
    args = parser.parse_args()
    torch.manual_seed(2019)

    net = IncrementalNet(n_class=2)
    train_task(net, None, make_task([0, 1], 8), args, "task0")
    old = copy.deepcopy(net)
    old.eval()
    net.grow(2)
    train_task(net, old, make_task([2, 3], 8), args, "task1")


if __name__ == "__main__":
    main()
