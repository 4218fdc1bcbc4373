import math

import torch
import torch.nn.functional as F


def make_blurry(size, ksize):
    pad = ksize // 2
    yy, xx = torch.meshgrid(torch.arange(size + 2 * pad), torch.arange(size + 2 * pad), indexing='ij')
    img = (((yy // 5) + (xx // 7)) % 2).float() * 0.7 + 0.1
    img[8:14, 10:18] = 0.95
    k = torch.zeros(ksize, ksize)
    for i in range(ksize):                       # motion blur along a diagonal
        k[i, i] = 1.0
    k = k / k.sum()
    x = img[None, None]
    y = F.conv2d(x, k[None, None]) + 0.01 * torch.randn(1, 1, size, size)
    return x[:, :, pad:-pad, pad:-pad], k[None, None], y


def fill_noise(shape):
    return torch.rand(shape) * 0.1


def tv_loss(x):
    return (x[:, :, 1:] - x[:, :, :-1]).abs().mean() + (x[:, :, :, 1:] - x[:, :, :, :-1]).abs().mean()


def psnr(a, b):
    return -10 * math.log10(((a - b) ** 2).mean().item())
