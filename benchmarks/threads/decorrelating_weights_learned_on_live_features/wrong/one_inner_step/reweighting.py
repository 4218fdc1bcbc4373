import math

import torch
import torch.nn as nn


def random_fourier(x, omega, b):
    # x: n*d  -> n*(d*k)
    return math.sqrt(2.0) * torch.cos(x.unsqueeze(-1) * omega + b).flatten(1)


def lossb_expect(f, w):
    """加权协方差的非对角元素之和 (不含同一特征内部)"""
    mean = (w * f).sum(0, keepdim=True)
    cov = (w * (f - mean)).t() @ (f - mean)
    off = cov - torch.diag(torch.diag(cov))
    return (off ** 2).sum()


def weight_learner(features, args):
    n, d = features.shape
    omega, b = torch.randn(d, 2), 2 * math.pi * torch.rand(d, 2)
    weight = nn.Parameter(torch.zeros(n, 1))
    optimizerbl = torch.optim.SGD([weight], lr=args.lrbl, momentum=0.9)
    f = random_fourier(features, omega, b)
    for _ in range(1):
        w = torch.softmax(weight, 0)
        lossb = lossb_expect(f, w) + 0.1 * (w ** 2).sum()
        optimizerbl.zero_grad()
        lossb.backward()
        optimizerbl.step()
    return torch.softmax(weight, 0).squeeze(1)
