import torch.nn as nn


def skip_net(in_ch, out_ch, width=12):
    return nn.Sequential(
        nn.Conv2d(in_ch, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.2),
        nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.2),
        nn.Conv2d(width, out_ch, 1), nn.Sigmoid())


def fcn(in_dim, out_dim, hidden=64):
    """the kernel is a softmax: positive, sums up to one"""
    return nn.Sequential(nn.Linear(in_dim, hidden), nn.ReLU6(), nn.Linear(hidden, out_dim), nn.Softmax(dim=1))
