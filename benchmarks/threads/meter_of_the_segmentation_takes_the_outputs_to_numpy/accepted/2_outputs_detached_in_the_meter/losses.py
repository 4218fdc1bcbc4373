import torch
import torch.nn as nn
import torch.nn.functional as F


class BCEDiceLoss(nn.Module):
    def __init__(self, dice_weight=0.5, smooth=1.0):
        super().__init__()
        self.dice_weight = dice_weight
        self.smooth = smooth

    def forward(self, probs, targets):
        bce = F.binary_cross_entropy(probs, targets)
        inter = (probs * targets).sum(dim=(1, 2, 3))
        total = probs.sum(dim=(1, 2, 3)) + targets.sum(dim=(1, 2, 3))
        dice = 1 - ((2 * inter + self.smooth) / (total + self.smooth)).mean()
        return bce + self.dice_weight * dice
