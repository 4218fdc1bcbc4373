import torch
from torch import nn


class GaussianScene(nn.Module):
    """2D splats, ordered by depth when rendered"""

    def __init__(self, n, size):
        super().__init__()
        self.size = size
        self.mean = nn.Parameter(torch.rand(n, 2) * size)
        self.log_scale = nn.Parameter(torch.full((n, 2), 1.0) + 0.2 * torch.randn(n, 2))
        self.theta = nn.Parameter(torch.rand(n) * 3.0)
        self.opacity_raw = nn.Parameter(torch.zeros(n))
        self.color_raw = nn.Parameter(torch.randn(n, 3) * 0.5)
        self.depth = nn.Parameter(torch.rand(n), requires_grad=False)

    @property
    def opacity(self):
        return torch.sigmoid(self.opacity_raw)

    @property
    def color(self):
        return torch.sigmoid(self.color_raw)

    def precision(self):
        c, s = torch.cos(self.theta), torch.sin(self.theta)
        rot = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
        inv = torch.diag_embed(torch.exp(-2.0 * self.log_scale))
        return rot @ inv @ rot.transpose(1, 2)
