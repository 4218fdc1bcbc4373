import torch
import torch.nn as nn


def _sigmoid(x):
    y = torch.clamp(x.sigmoid_(), min=1e-4, max=1 - 1e-4)
    return y


class FocalLoss(nn.Module):
    """CornerNet 的 focal loss, 输入必须已经过 sigmoid"""

    def forward(self, pred, gt):
        pos_inds = gt.eq(1).float()
        neg_inds = gt.lt(1).float()
        neg_weights = torch.pow(1 - gt, 4)
        pos_loss = torch.log(pred) * torch.pow(1 - pred, 2) * pos_inds
        neg_loss = torch.log(1 - pred) * torch.pow(pred, 2) * neg_weights * neg_inds
        num_pos = pos_inds.sum()
        return -(pos_loss.sum() + neg_loss.sum()) / num_pos.clamp(min=1)


class RegL1Loss(nn.Module):
    def forward(self, pred, mask, target):
        return ((pred - target).abs() * mask).sum() / (2 * mask.sum() + 1e-4)
