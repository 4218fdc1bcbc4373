from torch import nn


class SRNet(nn.Module):
    """8 samples in, 16 samples out."""

    def __init__(self, width=20):
        super().__init__()
        self.meta_block = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.tail = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 16))

    def forward(self, x):
        return self.tail(self.meta_block(x))
