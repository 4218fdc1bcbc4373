import torch
import torch.nn.functional as F
from torch import nn


class DiceCELoss(nn.Module):
    """Soft Dice + CE for a union of partially labelled data sets.

    An organ that was not annotated in a scan may be anywhere in its background, so it takes no part in the
    Dice of that scan: neither predicted nor labelled voxels of it are counted.
    """

    def __init__(self, organs, missing, dice_weight=1.0, ce_weight=1.0, smooth=1e-2, batch_dice=True):
        super().__init__()
        index = {name: i for i, name in enumerate(organs)}
        self.missing = {k: [index[o] for o in v] for k, v in missing.items()}
        self.dice_weight, self.ce_weight = dice_weight, ce_weight
        self.smooth = smooth
        self.batch_dice = batch_dice

    def dice(self, probs, onehot):
        axes = (0, 2, 3) if self.batch_dice else (2, 3)
        inter = (probs * onehot).sum(axes)
        denom = (probs ** 2).sum(axes) + (onehot ** 2).sum(axes)
        score = (2 * inter + self.smooth) / (denom + self.smooth)
        return 1 - score.mean()

    def forward(self, logits, label, source):
        probs = F.softmax(logits, dim=1)
        onehot = F.one_hot(label, logits.shape[1]).permute(0, 3, 1, 2).float()
        for b, name in enumerate(source):
            if self.missing[name]:
                probs.data[b, self.missing[name]] = 0.0
                onehot[b, self.missing[name]] = 0.0
        dice = self.dice(probs, onehot)
        ce = F.cross_entropy(logits, label)
        return self.dice_weight * dice + self.ce_weight * ce, dice, ce
