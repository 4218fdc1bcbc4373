import torch
from torch import nn
import torch.nn.functional as F


class QConv2d(nn.Conv2d):
    """Convolution that fake-quantises its weights per tensor once bits are set."""

    bits = None

    def forward(self, x):
        w = self.weight
        if self.bits is not None:
            levels = 2 ** (self.bits - 1) - 1
            scale = w.detach().abs().max() / levels
            w = w + ((w / scale).round() * scale - w).detach()
        return F.conv2d(x, w, self.bias, self.stride, self.padding)


class SmallCNN(nn.Module):
    def __init__(self, width=10, classes=4):
        super().__init__()
        self.conv1 = QConv2d(2, width, 3, padding=1)
        self.conv2 = QConv2d(width, width, 3, padding=1)
        self.conv3 = QConv2d(width, width, 3, padding=1)
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        for conv in (self.conv1, self.conv2, self.conv3):
            x = F.relu(conv(x))
        return self.fc(x.mean((2, 3)))

    @torch.no_grad()
    def imbalance(self, generator):
        """Channel ranges as a folded batch norm leaves them."""
        for conv in (self.conv1, self.conv2):
            factor = torch.exp(1.2 * torch.randn(conv.out_channels, generator=generator))
            conv.weight.mul_(factor.view(-1, 1, 1, 1))
            conv.bias.mul_(factor)

    def weight_range(self):
        return max(c.weight.abs().max().item() for c in (self.conv1, self.conv2, self.conv3))
