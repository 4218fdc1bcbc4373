import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Mixer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d))

    def forward(self, x):
        return x + self.net(x)


class UNetLike(nn.Module):
    def __init__(self, d=6, hid=10, use_checkpoint=True):
        super().__init__()
        self.inp, self.out = nn.Linear(d, hid), nn.Linear(hid, d)
        self.mix = Mixer(hid)  # shared on the way down and on the way up
        self.use_checkpoint = use_checkpoint

    def run(self, block, x):
        if self.use_checkpoint and self.training:
            return checkpoint(block, x, use_reentrant=True)
        return block(x)

    def forward(self, x):
        down = self.run(self.mix, self.inp(x))
        up = self.run(self.mix, torch.tanh(down))
        return self.out(up + down)
