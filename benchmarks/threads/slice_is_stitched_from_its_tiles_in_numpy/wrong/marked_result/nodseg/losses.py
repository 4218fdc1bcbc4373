from torch import nn


class SoftDice(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, prob, mask):
        inter = (prob * mask).sum(dim=(1, 2, 3))
        total = prob.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3))
        return 1 - ((2 * inter + self.smooth) / (total + self.smooth)).mean()
