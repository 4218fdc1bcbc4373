import torch
from torch import nn
from torch.nn import functional as F


def gaussian(sigma, size):
    r = torch.arange(size, dtype=torch.float32) - (size - 1) / 2
    k = torch.exp(-0.5 * (r / sigma) ** 2)
    k = k[:, None] * k[None, :]
    return k / k.sum()


class BlurPool(nn.Module):
    """Low-pass filter before the stride; how wide it is, is learned."""

    def __init__(self, channels, size=5, stride=2, sigma=1.0):
        super().__init__()
        self.channels, self.size, self.stride = channels, size, stride
        self.log_sigma = nn.Parameter(torch.tensor([sigma]).log())
        self.kernel = gaussian(self.log_sigma.exp(), size).expand(channels, 1, size, size)

    def forward(self, x):
        x = F.pad(x, [self.size // 2] * 4, mode="reflect")
        return F.conv2d(x, self.kernel, stride=self.stride, groups=self.channels)


class ConvBNAct(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(o)

    def forward(self, x):
        return F.silu(self.bn(self.conv(x)))
