import numpy as np
import torch

M = np.array([[0.412453, 0.357580, 0.180423],
              [0.212671, 0.715160, 0.072169],
              [0.019334, 0.119193, 0.950227]], dtype=np.float32)
WHITE = np.array([0.95047, 1.0, 1.08883], dtype=np.float32)


def rgb2lab(rgb):
    """rgb [n, h, w, 3] in 0..1 -> CIE Lab (D65)"""
    rgb = torch.clamp(rgb, 0.0, 1.0)
    m = (rgb > 0.04045).to(rgb)
    linear = m * ((rgb + 0.055) / 1.055).pow(2.4) + (1 - m) * rgb / 12.92
    xyz = torch.einsum('nhwc,kc->nhwk', linear, torch.tensor(M, dtype=rgb.dtype)) / torch.tensor(WHITE, dtype=rgb.dtype)
    k = (xyz > 0.008856).to(rgb)
    x, y, z = (k * xyz.clamp(min=1e-6).log().div(3).exp() + (1 - k) * (7.787 * xyz + 16.0 / 116.0)).unbind(-1)
    return torch.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], -1)
