# 领域自适应 (DANN). 第一阶段冻结编码器只训练两个头, 第二阶段全部训练
import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument('--warmup', type=int, default=4)
ap.add_argument('--iters', type=int, default=12)
ap.add_argument('--lr', type=float, default=0.05)
ap.add_argument('--seed', type=int, default=13)


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh())
        self.label_head = nn.Linear(8, 2)
        self.domain_head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))

    def freeze_encoder(self, flag):
        for p in self.encoder.parameters():
            p.requires_grad = not flag

    def forward(self, x, lamb):
        feat = self.encoder(x)
        rev = (1 + lamb) * feat.detach() - lamb * feat             # 梯度反转
        return self.label_head(feat), self.domain_head(rev).squeeze(1)


def batch(n, shift):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 6)
    x[:, 0] += 2.0 * y
    x[:, 1:3] += shift
    return x, y


def train(args):
    torch.manual_seed(args.seed)
    model = DANN()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for it in range(args.iters):
        model.freeze_encoder(it < args.warmup)
        p = it / args.iters
        lamb = 2. / (1. + math.exp(-5 * p)) - 1
        xs, ys = batch(32, 0.0)
        xt, _ = batch(32, 1.5)
        cls_s, dom_s = model(xs, lamb)
        _, dom_t = model(xt, lamb)
        cls_loss = F.cross_entropy(cls_s, ys)
        dom = torch.cat([dom_s, dom_t])
        dom_loss = F.binary_cross_entropy_with_logits(dom, torch.cat([torch.ones(32), torch.zeros(32)]))
        loss = cls_loss + dom_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 3 == 2:
            print(f'iter {it:2d} cls {cls_loss.item():.6f} dom {dom_loss.item():.6f}')
    xt, yt = batch(200, 1.5)
    with torch.no_grad():
        acc = (model.label_head(model.encoder(xt)).argmax(1) == yt).float().mean().item()
    print('target acc %.4f' % acc)


if __name__ == '__main__':
    train(ap.parse_args())
