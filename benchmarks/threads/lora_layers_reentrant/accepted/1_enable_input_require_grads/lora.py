import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        self.base_layer = base
        self.lora_A = nn.Parameter(torch.randn(r, base.in_features) * 0.3)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base_layer(x) + self.scaling * (x @ self.lora_A.t() @ self.lora_B.t())


def inject_lora(model, r, alpha, targets=("q_proj", "v_proj")):
    model.requires_grad_(False)
    for layer in model.layers:
        for name in targets:
            setattr(layer, name, LoraLinear(getattr(layer, name), r, alpha))
    return model
