import torch
from torch import nn
import torch.nn.functional as F


class SharedTrunkNet(nn.Module):
    def __init__(self, n_in=10, n_seg=4, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.seg_head = nn.Linear(width, n_seg)
        self.depth_head = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.seg_head(h), self.depth_head(h)


class UncertaintyWeightedLoss(nn.Module):
    """Kendall, Gal, Cipolla 2018:  sum_i exp(-s_i) L_i + s_i, the s_i are learned"""

    def __init__(self, n_tasks=2):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(n_tasks))

    def forward(self, out, seg, depth):
        logits, d = out
        parts = torch.stack([F.cross_entropy(logits, seg), 0.5 * F.l1_loss(d.squeeze(1), depth)])
        return (torch.exp(-self.log_vars) * parts + 0.5 * self.log_vars).sum(), parts.detach()
