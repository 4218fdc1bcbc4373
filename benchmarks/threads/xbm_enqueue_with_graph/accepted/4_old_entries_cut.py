# -*- coding: utf-8 -*-
import torch
import torch.nn as nn
import torch.nn.functional as F


class XBM:
    """跨批次记忆队列"""

    def __init__(self, size, dim):
        self.K = size
        self.feats = torch.zeros(size, dim)
        self.targets = torch.full((size,), -1)
        self.ptr = 0

    @property
    def is_full(self):
        return self.targets[-1].item() != -1

    def get(self):
        if self.is_full:
            return self.feats, self.targets
        return self.feats[:self.ptr], self.targets[:self.ptr]

    def enqueue_dequeue(self, feats, targets):
        q = len(targets)
        if self.ptr + q > self.K:   # 队列已满, 从头开始覆盖
            self.ptr = 0
        fresh = self.feats.detach().clone()
        fresh[self.ptr:self.ptr + q] = feats
        self.feats = fresh
        self.targets[self.ptr:self.ptr + q] = targets
        self.ptr += q


def contrastive(x, tx, y, ty, margin=0.5):
    sim = x @ y.t()
    same = tx[:, None] == ty[None, :]
    pos = (1 - sim)[same & (sim < 1 - 1e-5)].sum()
    neg = F.relu(sim - margin)[~same].sum()
    return (pos + neg) / len(x)


torch.manual_seed(6)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
xbm = XBM(24, 5)
centres = torch.randn(4, 6)
for iteration in range(7):
    targets = torch.arange(8) % 4
    images = centres[targets] + 0.3 * torch.randn(8, 6)
    feats = F.normalize(model(images), dim=1)
    xbm.enqueue_dequeue(feats, targets)
    loss = contrastive(feats, targets, feats, targets)
    loss = loss + 0.5 * contrastive(feats, targets, *xbm.get())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print('损失', '%.6f' % loss.item(), '记忆', '%.6f' % xbm.feats.abs().sum().item())
