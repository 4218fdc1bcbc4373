# -*- coding: utf-8 -*-
import torch
import torch.nn as nn
import torch.nn.functional as F


class BiFPNNode(nn.Module):
    """加权特征融合 (fast normalized fusion)"""

    def __init__(self, channels, n_inputs, eps=1e-4):
        super().__init__()
        self.eps = eps
        self.w = nn.Parameter(torch.ones(n_inputs))
        self.relu = nn.ReLU()
        self.conv = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels))

    def forward(self, *inputs):
        w = self.relu(self.w)
        w = w / (w.sum() + self.eps)
        fused = sum(wi * x for wi, x in zip(w, inputs))
        return self.conv(F.silu(fused))


class BiFPN(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.p4_up, self.p3_out = BiFPNNode(c, 2), BiFPNNode(c, 2)
        self.p4_out, self.p5_out = BiFPNNode(c, 3), BiFPNNode(c, 2)

    def forward(self, p3, p4, p5):
        p4_up = self.p4_up(p4, F.interpolate(p5, scale_factor=2))
        p3_out = self.p3_out(p3, F.interpolate(p4_up, scale_factor=2))
        p4_out = self.p4_out(p4, p4_up, F.max_pool2d(p3_out, 2))
        return p3_out, p4_out, self.p5_out(p5, F.max_pool2d(p4_out, 2))


class Detector(nn.Module):
    def __init__(self, c=6, classes=3):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 3, padding=1)
        self.fpn, self.head = BiFPN(c), nn.Linear(3 * c, classes)

    def forward(self, x):
        p3 = self.stem(x)
        p4 = F.avg_pool2d(p3, 2)
        feats = self.fpn(p3, p4, F.avg_pool2d(p4, 2))
        return self.head(torch.cat([f.mean((2, 3)) for f in feats], 1))


torch.manual_seed(503)
model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for i in range(5):
    y = torch.randint(3, (6,))
    x = torch.randn(6, 3, 8, 8) + F.one_hot(y, 3)[:, :, None, None]
    loss = F.cross_entropy(model(x), y)      # 分类损失
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print('第 %d 步 损失 %.6f 权重 %.6f' % (i, loss.item(), model.fpn.p4_out.w.sum().item()))
