import torch
from torch import nn

from .core import compute_softdtw
from .function import _SoftDTW  # noqa: F401


class SoftDTW(nn.Module):
    def __init__(self, gamma=1.0, normalize=False):
        super().__init__()
        self.gamma, self.normalize = gamma, normalize

    def calc_distance_matrix(self, x, y):
        return (x.unsqueeze(2) - y.unsqueeze(1)).pow(2).sum(3)

    def value(self, x, y):
        D = self.calc_distance_matrix(x, y)
        R = compute_softdtw(D.detach().cpu().numpy(), self.gamma)
        return torch.tensor(R[:, -2, -2], dtype=x.dtype)

    def forward(self, x, y):
        assert x.size(0) == y.size(0) and x.size(2) == y.size(2)
        out_xy = self.value(x, y)
        if not self.normalize:
            return out_xy
        # sdtw(x, x) is not zero and depends on x as well
        out_xx = self.value(x, x)
        out_yy = self.value(y, y)
        return out_xy - 0.5 * (out_xx + out_yy)
