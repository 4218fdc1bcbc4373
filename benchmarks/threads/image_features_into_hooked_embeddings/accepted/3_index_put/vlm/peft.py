import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(rank, base.in_features) * 0.3)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.a.t() @ self.b.t()


def add_lora(model, rank, names=("qkv", "down")):
    for m in list(model.modules()):
        for n, c in list(m.named_children()):
            if n in names:
                setattr(m, n, LoraLinear(c, rank))


def trainable(model):
    return [p for p in model.parameters() if p.requires_grad]
