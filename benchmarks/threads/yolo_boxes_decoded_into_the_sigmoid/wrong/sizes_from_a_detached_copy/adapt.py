"""Trains on the decoded predictions (B x N x 6), as at inference, instead of on the raw maps."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class AdaptConfig:
    n_images: int = 12
    batch_size: int = 6
    width: int = 6
    epochs: int = 3
    lr: float = 0.01
    momentum: float = 0.9
    box: float = 0.05
    obj: float = 1.0
    cls: float = 0.5


def xywh2xyxy(b):
    return torch.cat([b[..., :2] - b[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2], -1)


def giou(a, b):
    a, b = xywh2xyxy(a), xywh2xyxy(b)
    inter = (torch.min(a[..., 2:], b[..., 2:]) - torch.max(a[..., :2], b[..., :2])).clamp(0).prod(-1)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - inter
    hull = (torch.max(a[..., 2:], b[..., 2:]) - torch.min(a[..., :2], b[..., :2])).prod(-1)
    return inter / union - (hull - union) / hull


class Adapter:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum)

    def loss(self, pred, boxes):
        g = giou(pred[..., :4], boxes[:, None])  # B x N
        best = g.detach().argmax(1)
        rows = torch.arange(len(boxes))
        obj = torch.zeros_like(g)
        obj[rows, best] = 1.0
        l_box = (1.0 - g[rows, best]).mean()
        l_obj = F.binary_cross_entropy(pred[..., 4], obj)
        l_cls = F.binary_cross_entropy(pred[rows, best, 5], torch.ones(len(boxes)))
        return self.cfg.box * l_box + self.cfg.obj * l_obj + self.cfg.cls * l_cls, (l_box, l_obj, l_cls)

    def run(self, imgs, boxes):
        for epoch in range(self.cfg.epochs):
            for i in range(0, len(imgs), self.cfg.batch_size):
                pred, _ = self.model(imgs[i:i + self.cfg.batch_size])
                loss, parts = self.loss(pred, boxes[i:i + self.cfg.batch_size])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print("%d  box %.5f  obj %.5f  cls %.5f" % (epoch, *[float(p.detach()) for p in parts]))
