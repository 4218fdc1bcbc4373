import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

from quantizer import quant_act, quant_weight


class FFN(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.ln = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)
        # trained models have grown gains on some channels
        with torch.no_grad():
            self.ln.weight.copy_(torch.exp(0.6 * torch.randn(dim)))
            self.ln.bias.normal_(std=0.1)

    def forward(self, x):
        return x + self.fc2(F.relu(self.fc1(self.ln(x))))


def smooth_ln_fcs(ln, fcs, scales):
    """move the difficulty from the activations into the weights: LN / s, W * s"""
    ln.weight.div_(scales)
    ln.bias.div_(scales)
    for fc in fcs:
        fc.weight.mul_(scales)


class QuantFFN(nn.Module):
    def __init__(self, org, cfg, inps):
        super().__init__()
        self.cfg = cfg
        self.ln = copy.deepcopy(org.ln)
        self.fc1 = copy.deepcopy(org.fc1)
        self.fc2 = copy.deepcopy(org.fc2)
        with torch.no_grad():
            act = self.ln(inps).abs().flatten(0, -2).amax(0)
            weight = self.fc1.weight.abs().amax(0)
            scale = (act ** cfg.alpha / weight ** (1 - cfg.alpha)).clamp(min=1e-5)
        self.log_scale = nn.Parameter(scale.log())
        self.clip1 = nn.Parameter(torch.full((cfg.hidden,), 4.))
        self.clip2 = nn.Parameter(torch.full((cfg.dim,), 4.))

    def forward(self, x):
        cfg = self.cfg
        for p in (self.ln.weight, self.ln.bias, self.fc1.weight):
            p.detach_()
        smooth_ln_fcs(self.ln, [self.fc1], self.log_scale.exp())
        h = quant_act(self.ln(x), cfg.abits)
        h = F.linear(h, quant_weight(self.fc1.weight, cfg.wbits, self.clip1), self.fc1.bias)
        h = quant_act(F.relu(h), cfg.abits)
        return x + F.linear(h, quant_weight(self.fc2.weight, cfg.wbits, self.clip2), self.fc2.bias)
