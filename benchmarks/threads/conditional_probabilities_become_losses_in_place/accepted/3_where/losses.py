import torch
import torch.nn as nn

from taxonomy import DEPTH, leaf_sets


class HierarchicalCrossEntropy(nn.Module):
    """-sum_h w_h log p(node_h | parent_h). Paths shorter than DEPTH are padded, there numerator and denominator are 0."""

    def __init__(self, alpha=0.4):
        super().__init__()
        num, den = leaf_sets()
        self.register_buffer("onehot_num", num)
        self.register_buffer("onehot_den", den)
        self.register_buffer("weights", torch.exp(-alpha * torch.arange(DEPTH, dtype=torch.float32)))

    def forward(self, logits, target):
        probs = torch.softmax(logits, dim=1).unsqueeze(2)
        num = torch.bmm(self.onehot_num[target], probs).squeeze(2)
        den = torch.bmm(self.onehot_den[target], probs).squeeze(2)
        idx = num != 0
        ratio = num / den.clamp_min(1e-12)
        # padded levels stay 0
        safe = torch.where(idx, ratio, torch.ones_like(ratio))
        return (self.weights * -torch.log(safe)).sum(1).mean()
