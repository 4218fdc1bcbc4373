import torch
from torch import nn


def rotation(vec):
    """Rodrigues' formula for a batch of axis-angle vectors."""
    theta = torch.sqrt((vec ** 2).sum(-1, keepdim=True) + 1e-8)
    axis = vec / theta
    zero = torch.zeros_like(axis[:, 0])
    x, y, z = axis.unbind(-1)
    k = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).view(-1, 3, 3)
    theta = theta.unsqueeze(-1)
    return torch.eye(3) + torch.sin(theta) * k + (1 - torch.cos(theta)) * (k @ k)


class LearnedCameras(nn.Module):
    """One shared focal length, one pose per photo. All of them start from a rough guess."""

    def __init__(self, n_views, size, init_focal):
        super().__init__()
        self.size = size
        self.log_focal = nn.Parameter(torch.log(torch.tensor(float(init_focal))))
        self.axis_angle = nn.Parameter(torch.randn(n_views, 3) * 0.05)
        self.translation = nn.Parameter(torch.zeros(n_views, 3))

    def focal(self):
        return self.log_focal.exp()

    def rays(self):
        """Origins and directions of every pixel of every view: (views * size * size, 3) each."""
        s = self.size
        v, u = torch.meshgrid(torch.arange(s) + 0.5, torch.arange(s) + 0.5, indexing="ij")
        f = self.focal()
        local = torch.stack([(u - s / 2) / f, -(v - s / 2) / f, -torch.ones_like(u)], -1).reshape(1, -1, 3)
        dirs = local @ rotation(self.axis_angle).transpose(1, 2)
        origins = (self.translation + torch.tensor([0.0, 0.0, 2.0])).unsqueeze(1).expand_as(dirs)
        return origins.reshape(-1, 3), dirs.reshape(-1, 3)
