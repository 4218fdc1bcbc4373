import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Linear):
    def __init__(self, n_in, n_out, rank, alpha):
        super().__init__(n_in, n_out)
        self.A = nn.Parameter(torch.randn(rank, n_in) / rank)
        self.B = nn.Parameter(torch.zeros(n_out, rank))
        self.scaling = alpha / rank
        self.merged = False

    def delta(self):
        return (self.B @ self.A) * self.scaling

    def merge(self):
        if not self.merged:
            self.weight.data.add_(self.delta().data)
            self.merged = True

    def unmerge(self):
        if self.merged:
            self.weight.data.sub_(self.delta().data)
            self.merged = False

    def forward(self, x):
        out = F.linear(x, self.weight, self.bias)
        if not self.merged:
            out = out + F.linear(F.linear(x, self.A), self.B) * self.scaling
        return out


def mark_only_lora_as_trainable(model):
    for n, p in model.named_parameters():
        p.requires_grad = n.endswith('.A') or n.endswith('.B')


def merge_all(model):
    for m in model.modules():
        if isinstance(m, LoRALinear):
            m.merge()


def unmerge_all(model):
    for m in model.modules():
        if isinstance(m, LoRALinear):
            m.unmerge()
