import numpy as np
import torch

M = np.array([[0.412453, 0.357580, 0.180423],
              [0.212671, 0.715160, 0.072169],
              [0.019334, 0.119193, 0.950227]], dtype=np.float32)
WHITE = np.array([0.95047, 1.0, 1.08883], dtype=np.float32)


def rgb2lab(rgb):
    """rgb [n, h, w, 3] in 0..1 -> CIE Lab (D65)"""
    rgb = np.clip(rgb, 0.0, 1.0)
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ M.T / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(np.maximum(xyz, 1e-6)), 7.787 * xyz + 16.0 / 116.0)
    L = 116.0 * f[..., 1] - 16.0
    a = 500.0 * (f[..., 0] - f[..., 1])
    b = 200.0 * (f[..., 1] - f[..., 2])
    return np.stack([L, a, b], axis=-1)


class RgbToLab(torch.autograd.Function):
    """numpy forward, backward by the chain rule"""

    @staticmethod
    def forward(ctx, rgb):
        ctx.save_for_backward(rgb)
        return torch.from_numpy(rgb2lab(rgb.detach().numpy())).to(rgb)

    @staticmethod
    def backward(ctx, g):
        rgb, = ctx.saved_tensors
        m, w = torch.as_tensor(M).to(rgb), torch.as_tensor(WHITE).to(rgb)
        c = rgb.clamp(0.0, 1.0)
        linear = torch.where(c > 0.04045, ((c + 0.055) / 1.055) ** 2.4, c / 12.92)
        xyz = linear @ m.T / w
        df = torch.where(xyz > 0.008856, xyz.clamp(min=1e-6) ** (-2 / 3) / 3, torch.full_like(xyz, 7.787))
        gL, ga, gb = g.unbind(-1)
        gf = torch.stack([500.0 * ga, 116.0 * gL - 500.0 * ga + 200.0 * gb, -200.0 * gb], -1)
        glin = (gf * df / w) @ m
        dlin = torch.where(c > 0.04045, 2.4 / 1.055 * ((c + 0.055) / 1.055) ** 1.4, torch.full_like(c, 1 / 12.92))
        inside = (rgb >= 0) & (rgb <= 1)
        return glin * dlin * inside
