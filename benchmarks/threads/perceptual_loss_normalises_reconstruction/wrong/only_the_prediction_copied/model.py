import torch
from torch import nn


class UpNet(nn.Module):
    """3 conv layers and a pixel shuffle; output in [0, 1]"""

    def __init__(self, width=12):
        super().__init__()
        self.head = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Conv2d(width, width, 3, padding=1)
        self.tail = nn.Conv2d(width, 12, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)
        self.act = nn.LeakyReLU(0.2)

    def forward(self, x):
        h = self.act(self.head(x))
        h = h + self.act(self.body(h))
        return torch.sigmoid(self.shuffle(self.tail(h)))
