from functools import cached_property

import torch
import torch.nn as nn
import torch.nn.functional as F

FUNCS = {"seg": F.cross_entropy, "depth": F.mse_loss,
         "normal": lambda p, t: 1 - F.cosine_similarity(p, t).mean()}


class MultiTaskLoss(nn.Module):
    """homoscedastic uncertainty: sum of exp(-s_i) * L_i + s_i / 2"""

    def __init__(self, tasks):
        super().__init__()
        self.tasks = tasks
        self.log_vars = nn.Parameter(torch.zeros(len(tasks)))

    @cached_property
    def precision(self):
        return torch.exp(-self.log_vars)

    def forward(self, preds, targets):
        losses = torch.stack([FUNCS[t](preds[t], targets[t]) for t in self.tasks])
        total = (self.precision.detach() * losses).sum() + 0.5 * self.log_vars.sum()
        return total, dict(zip(self.tasks, losses.tolist()))
