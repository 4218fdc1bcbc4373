# 训练入口: 学习样本权重以去除特征之间的相关性, 再用加权交叉熵训练主网络
import argparse

import torch
import torch.nn.functional as F

from model import SmallNet
from reweighting import weight_learner


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', type=int, default=3)
    p.add_argument('--batch', type=int, default=32)
    p.add_argument('--epochb', type=int, default=4, help='权重学习的内部迭代次数')
    p.add_argument('--lrbl', type=float, default=2.0, help='权重学习率')
    p.add_argument('--lr', type=float, default=0.05)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(5)
    n = 128
    core = torch.randn(n, 3)
    y = (core.sum(1) > 0).long()
    spurious = (2 * y.float() - 1).unsqueeze(1) + 0.5 * torch.randn(n, 3)      # 虚假相关
    x = torch.cat([core, spurious], 1)
    net = SmallNet(6, 12, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        perm = torch.randperm(n)
        total = 0.
        for i in range(0, n, args.batch):
            idx = perm[i:i + args.batch]
            optimizer.zero_grad()
            output, features = net(x[idx])
            weight = weight_learner(features, args)
            loss = (F.cross_entropy(output, y[idx], reduction='none') * weight).sum()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, 'loss %.6f' % total, 'w max %.6f' % weight.max().item())
    print('core / spurious %.5f %.5f' % (net.fc1.weight[:, :3].norm().item(), net.fc1.weight[:, 3:].norm().item()))


if __name__ == '__main__':
    main()
