import torch
import torch.nn as nn


class MovingBatchNorm(nn.Module):
    """BN for tiny batches: normalises by the *moving* statistics in training too
    (two volumes per batch are too few for a mean of their own)."""

    def __init__(self, c, momentum=0.9, eps=1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.weight = nn.Parameter(torch.ones(c))
        self.bias = nn.Parameter(torch.zeros(c))
        self.register_buffer("running_mean", torch.zeros(c))
        self.register_buffer("running_var", torch.ones(c))

    def forward(self, x):
        if self.training:
            mean = x.mean(dim=(0, 2, 3))
            var = x.var(dim=(0, 2, 3), unbiased=False)
            self.running_mean = self.momentum * self.running_mean + (1.0 - self.momentum) * mean
            self.running_var = self.momentum * self.running_var + (1.0 - self.momentum) * var
        mean, var = self.running_mean, self.running_var
        x = (x - mean[None, :, None, None]) / torch.sqrt(var[None, :, None, None] + self.eps)
        return x * self.weight[None, :, None, None] + self.bias[None, :, None, None]


def set_momentum(net, m):
    for mod in net.modules():
        if isinstance(mod, MovingBatchNorm):
            mod.momentum = m


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), MovingBatchNorm(o), nn.ReLU())


class SmallSegNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.enc = conv_block(1, base)
        self.down = nn.MaxPool2d(2)
        self.mid = conv_block(base, base * 2)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec = conv_block(base * 3, base)
        self.head = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        e = self.enc(x)
        m = self.up(self.mid(self.down(e)))
        return self.head(self.dec(torch.cat([e, m], dim=1)))
