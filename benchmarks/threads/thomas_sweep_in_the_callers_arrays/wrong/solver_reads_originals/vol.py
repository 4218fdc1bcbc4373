import torch
import torch.nn as nn
import torch.nn.functional as F


class VolCurve(nn.Module):
    """piecewise linear sigma(S), positive"""

    def __init__(self, knots):
        super().__init__()
        self.raw = nn.Parameter(torch.full((knots,), -1.2))

    def values(self):
        return F.softplus(self.raw)

    def forward(self, s, s_max):
        v = self.values()
        pos = (s / s_max * (len(v) - 1)).clamp(max=len(v) - 1 - 1e-9)
        i = pos.floor().long()
        w = pos - i
        return (1 - w) * v[i] + w * v[i + 1]

    def second_differences(self):
        v = self.values()
        return v[2:] - 2 * v[1:-1] + v[:-2]
