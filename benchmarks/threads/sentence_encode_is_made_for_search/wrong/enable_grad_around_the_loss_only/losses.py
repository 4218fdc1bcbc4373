import torch
import torch.nn as nn


class MultipleNegativesRankingLoss(nn.Module):
    """The other answers of the batch are the negatives; expects unit vectors."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.ce = nn.CrossEntropyLoss()

    def forward(self, a, b):
        scores = self.scale * a @ b.T
        return self.ce(scores, torch.arange(len(a)))
