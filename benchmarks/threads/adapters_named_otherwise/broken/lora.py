import math

import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    """A frozen linear layer with a trained low-rank update."""

    def __init__(self, base, r, alpha):
        super().__init__()
        self.base = base
        self.linear_a_q = nn.Linear(base.in_features, r, bias=False)
        self.linear_b_q = nn.Linear(r, base.out_features, bias=False)
        self.scale = alpha / r
        nn.init.kaiming_uniform_(self.linear_a_q.weight, a=math.sqrt(5))
        nn.init.zeros_(self.linear_b_q.weight)

    def forward(self, x):
        return self.base(x) + self.scale * self.linear_b_q(self.linear_a_q(x))


def inject(model, r, alpha, targets):
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in targets and isinstance(child, nn.Linear):
                setattr(module, name, LoRALinear(child, r, alpha))
    return model


def mark_only_trainable(model, patterns):
    for name, p in model.named_parameters():
        p.requires_grad = any(pattern in name for pattern in patterns)
