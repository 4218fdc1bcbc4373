import torch
import torch.nn as nn
import torch.nn.functional as F


class Scale(nn.Module):
    """One learnable factor per level."""

    def __init__(self, value=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(value))

    def forward(self, x):
        return x * self.scale


class Backbone(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.c1 = nn.Conv2d(1, width, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.c4 = nn.Conv2d(width, width, 3, stride=2, padding=1)

    def forward(self, x):
        x = F.relu(self.c2(F.relu(self.c1(x))))
        p3 = F.relu(self.c3(x))
        p4 = F.relu(self.c4(p3))
        return [p3, p4]


class AnchorFreeHead(nn.Module):
    """Per point a score, and the distances to the four sides in pixels."""

    def __init__(self, width=8, strides=(8, 16)):
        super().__init__()
        self.strides = strides
        self.cls_conv = nn.Conv2d(width, width, 3, padding=1)
        self.reg_conv = nn.Conv2d(width, width, 3, padding=1)
        self.cls_out = nn.Conv2d(width, 1, 3, padding=1)
        self.reg_out = nn.Conv2d(width, 4, 3, padding=1)
        self.ctr_out = nn.Conv2d(width, 1, 3, padding=1)
        self.scales = nn.ModuleList([Scale(1.0) for _ in strides])
        nn.init.constant_(self.reg_out.bias, 0.8)

    def forward(self, feats):
        return [self.forward_single(f, s, t) for f, s, t in zip(feats, self.scales, self.strides)]

    def forward_single(self, feat, scale, stride):
        cls_feat = F.relu(self.cls_conv(feat))
        reg_feat = F.relu(self.reg_conv(feat))
        cls_score = self.cls_out(cls_feat)
        centerness = self.ctr_out(reg_feat)
        # scale the bbox_pred of different level
        bbox_pred = scale(self.reg_out(reg_feat)).float()
        bbox_pred = F.relu(bbox_pred)
        bbox_pred = bbox_pred * stride
        return cls_score, bbox_pred, centerness
