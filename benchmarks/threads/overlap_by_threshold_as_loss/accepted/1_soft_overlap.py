import numpy as np
import torch
import torch.nn as nn


def iou_loss(logits, masks, thr=0.5):
    pred = torch.sigmoid(logits)
    inter = (pred * masks).sum((1, 2))
    union = (pred + masks - pred * masks).sum((1, 2))
    return 1 - ((inter + 1) / (union + 1)).mean()


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 1))

    def forward(self, x):
        return self.net(x)[:, 0]


torch.manual_seed(240)
model = SegNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for it in range(5):
    img = torch.rand(4, 1, 6, 6)
    mask = (img[:, 0] > 0.6).float()
    loss = iou_loss(model(img), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print('%.6f' % loss.item())
