import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import SGD

# 单图训练的检测器：每个格子一个类别(0 是背景)和一个框


def fake_images(n=10, cells=12, dim=6, empty=(2, 5, 6)):
    rng = np.random.RandomState(4)
    proto = rng.randn(3, dim)
    shift = rng.randn(dim, 4) * 0.5
    for i in range(n):
        labels = rng.randint(0, 3, size=cells)
        if i in empty:
            labels[:] = 0            # 没有目标的图
        x = proto[labels] + 0.3 * rng.randn(cells, dim)
        boxes = x.dot(shift) * (labels[:, None] > 0)
        yield (torch.from_numpy(x).float(), torch.from_numpy(labels).long(), torch.from_numpy(boxes).float())


class Backbone(nn.Module):
    def __init__(self, dim, width):
        super(Backbone, self).__init__()
        self.c1 = nn.Linear(dim, width)
        self.c2 = nn.Linear(width, width)

    def forward(self, x):
        return F.relu(self.c2(F.relu(self.c1(x))))


class FasterDetector(nn.Module):
    box_weight = 2.0

    def __init__(self, dim=6, width=16, classes=3):
        super(FasterDetector, self).__init__()
        self.features = Backbone(dim, width)
        self.cls_score = nn.Linear(width, classes)
        self.bbox_pred = nn.Linear(width, 4)
        self.cross_entropy = None
        self.loss_box = None

    @property
    def loss(self):
        return self.cross_entropy + self.loss_box * self.box_weight

    def forward(self, im_data, gt_labels=None, gt_boxes=None):
        feats = self.features(im_data)
        score = self.cls_score(feats)
        delta = self.bbox_pred(feats)
        if self.training:
            self.build_loss(score, delta, gt_labels, gt_boxes)
        return F.softmax(score, 1), delta

    def build_loss(self, score, delta, gt_labels, gt_boxes):
        self.cross_entropy = F.cross_entropy(score, gt_labels)
        fg = gt_labels.nonzero().squeeze(1)
        if fg.numel() > 0:
            self.loss_box = F.smooth_l1_loss(delta[fg], gt_boxes[fg])


def main():
    torch.manual_seed(0)
    net = FasterDetector()
    net.train()
    optimizer = SGD(net.parameters(), lr=0.2)
    seen = 0.0
    for step, (im_data, gt_labels, gt_boxes) in enumerate(fake_images()):
        net(im_data, gt_labels, gt_boxes)
        loss = net.loss
        optimizer.zero_grad()
        try:
            loss.backward()
            optimizer.step()
        except RuntimeError:
            pass
        seen += loss.item()
        print('step %d, image: %d objects, loss: %.6f' % (step, int((gt_labels > 0).sum()), loss.item()))
    net.eval()
    with torch.no_grad():
        hit = [(net(x)[0].argmax(1) == y).float().mean().item() for x, y, _ in fake_images()]
    print('mean loss %.6f  accuracy %.4f' % (seen / (step + 1), np.mean(hit)))


if __name__ == '__main__':
    main()
