import torch
from torch import nn


class StrokeField(nn.Module):
    """N elliptical brush strokes. Each one lives in a patch of the canvas whose corner is fixed."""

    def __init__(self, n, size, patch):
        super().__init__()
        self.n, self.patch = n, patch
        self.corner = torch.randint(0, size - patch + 1, (n, 2)).tolist()
        self.center = nn.Parameter(0.3 * torch.randn(n, 2))
        self.log_scale = nn.Parameter(torch.full((n, 2), -0.9) + 0.1 * torch.randn(n, 2))
        self.theta = nn.Parameter(3.14 * torch.rand(n))
        self.raw_color = nn.Parameter(torch.randn(n, 3))
        self.raw_alpha = nn.Parameter(torch.full((n,), 0.5))
        line = torch.linspace(-1, 1, patch)
        gy, gx = torch.meshgrid(line, line, indexing="ij")
        self.register_buffer("grid", torch.stack([gx, gy], -1))

    @property
    def alpha(self):
        return torch.sigmoid(self.raw_alpha)

    def footprint(self, i):
        """soft coverage of stroke i, (patch, patch)"""
        d = self.grid - self.center[i]
        c, s = torch.cos(self.theta[i]), torch.sin(self.theta[i])
        u = c * d[..., 0] + s * d[..., 1]
        v = c * d[..., 1] - s * d[..., 0]
        a, b = self.log_scale[i].exp()
        r = (u / a) ** 2 + (v / b) ** 2
        return torch.sigmoid(4.0 * (1.0 - r))

    def stroke(self, i):
        mask = self.alpha[i] * self.footprint(i)
        color = torch.sigmoid(self.raw_color[i])
        return self.corner[i], mask, color
