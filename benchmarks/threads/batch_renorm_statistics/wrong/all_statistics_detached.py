# -*- coding: utf-8 -*-
"""Batch Renormalization (Ioffe 2017) で小さなミニバッチを学習する"""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class BatchRenorm1d(nn.Module):
    def __init__(self, num_features, momentum=0.1, eps=1e-3, r_max=3.0, d_max=5.0):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(num_features))
        self.bias = nn.Parameter(torch.zeros(num_features))
        self.register_buffer('running_mean', torch.zeros(num_features))
        self.register_buffer('running_std', torch.ones(num_features))
        self.momentum, self.eps, self.r_max, self.d_max = momentum, eps, r_max, d_max

    def forward(self, x):
        if not self.training:
            return self.weight * (x - self.running_mean) / self.running_std + self.bias
        mean = x.mean(0).detach()
        std = x.std(0, unbiased=False).detach() + self.eps

        # 補正項 r, d は定数として扱う(勾配は流さない)
        r = (std / self.running_std).clamp(1 / self.r_max, self.r_max)
        d = ((mean - self.running_mean) / self.running_std).clamp(-self.d_max, self.d_max)
        x = (x - mean) / std * r + d

        # 移動平均の更新
        self.running_mean += self.momentum * (mean.detach() - self.running_mean)
        self.running_std += self.momentum * (std.detach() - self.running_std)
        return self.weight * x + self.bias


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1, self.bn1 = nn.Linear(6, width), BatchRenorm1d(width)
        self.fc2, self.bn2 = nn.Linear(width, width), BatchRenorm1d(width)
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        x = F.relu(self.bn1(self.fc1(x)))
        x = F.relu(self.bn2(self.fc2(x)))
        return self.out(x)


def make_data(n):
    centers = torch.tensor([[2., 0, 0, 1, 0, 0], [0, 2., 0, 0, 1, 0], [0, 0, 2., 0, 0, 1]])
    y = torch.arange(n) % 3
    x = centers[y] + torch.randn(n, 6) + 1.5
    return x, y


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    out = model(x)
    model.train()
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main(args):
    torch.manual_seed(args.seed)
    model = MLP(args.width)
    x, y = make_data(60)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for it in range(args.iters):
        idx = torch.randperm(len(x))[:args.batch]
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2 == 1:
            print('iter %d  loss %.6f  eval %.6f %.4f' % ((it, loss.item()) + evaluate(model, x, y)))


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--width', type=int, default=12)
    p.add_argument('--batch', type=int, default=5)
    p.add_argument('--iters', type=int, default=8)
    p.add_argument('--lr', type=float, default=0.05)
    p.add_argument('--seed', type=int, default=17)
    main(p.parse_args())
