import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def geometric_transform(pose, similarity=False):
    """6 numbers per part -> affine matrix: scale_x, scale_y, theta, shear, trans_x, trans_y"""
    sx, sy, theta, shear, tx, ty = torch.split(pose, 1, dim=-1)
    sx, sy = torch.sigmoid(sx) + 0.5, torch.sigmoid(sy) + 0.5
    tx, ty, shear = torch.tanh(tx * 3.), torch.tanh(ty * 3.), torch.tanh(shear * 3.)
    theta = torch.sigmoid(theta)
    theta.data *= 2. * math.pi
    c, s = torch.cos(theta), torch.sin(theta)
    if similarity:
        mat = [sx * c, -sx * s, tx, sx * s, sx * c, ty]
    else:
        mat = [sx * c + shear * sy * s, -sx * s + shear * sy * c, tx, sy * s, sy * c, ty]
    return torch.cat(mat, dim=-1).view(*pose.shape[:-1], 2, 3), theta


class PartCapsules(nn.Module):
    def __init__(self, n_parts, img, template=5):
        super().__init__()
        self.n_parts = n_parts
        self.cnn = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten())
        self.fc = nn.Linear(8 * (img // 4) ** 2, n_parts * 7)
        self.templates = nn.Parameter(torch.rand(n_parts, 1, template, template))

    def forward(self, x):
        out = self.fc(self.cnn(x.unsqueeze(1))).view(-1, self.n_parts, 7)
        mats, theta = geometric_transform(out[..., :6])
        return mats, torch.sigmoid(out[..., 6]), theta


def render_parts(templates, mats, pres, img):
    B, P = pres.shape
    t = templates.unsqueeze(0).expand(B, -1, -1, -1, -1).reshape(B * P, 1, *templates.shape[-2:])
    grid = F.affine_grid(mats.view(B * P, 2, 3) * 1.8, (B * P, 1, img, img), align_corners=False)
    parts = F.grid_sample(t, grid, align_corners=False).view(B, P, img, img)
    return 1 - torch.prod(1 - parts.clamp(0, 1) * pres[..., None, None], dim=1)
