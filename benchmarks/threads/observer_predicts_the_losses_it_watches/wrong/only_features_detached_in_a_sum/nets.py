import torch
import torch.nn as nn


class TargetNet(nn.Module):
    def __init__(self, d=12, h=32, k=5):
        super().__init__()
        self.block1 = nn.Sequential(nn.Linear(d, h), nn.ReLU())
        self.block2 = nn.Sequential(nn.Linear(h, h), nn.ReLU())
        self.head = nn.Linear(h, k)

    def forward(self, x):
        f1 = self.block1(x)
        f2 = self.block2(f1)
        return self.head(f2), [f1, f2]


class LossNet(nn.Module):
    """Looks at the hidden layers of the target net and guesses the loss of each sample.

    Only an observer: the target net does not know that it is being watched.
    """

    def __init__(self, h=32, e=8):
        super().__init__()
        self.taps = nn.ModuleList([nn.Sequential(nn.Linear(h, e), nn.ReLU()) for _ in range(2)])
        self.out = nn.Linear(2 * e, 1)

    def forward(self, feats):
        return self.out(torch.cat([t(f) for t, f in zip(self.taps, feats)], 1)).squeeze(1)
