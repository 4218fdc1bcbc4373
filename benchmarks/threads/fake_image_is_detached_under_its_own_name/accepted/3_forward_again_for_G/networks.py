import torch
import torch.nn as nn


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


class UNetTiny(nn.Module):
    """two levels, one skip"""

    def __init__(self, nf=8):
        super().__init__()
        self.down1 = nn.Conv2d(1, nf, 3, stride=1, padding=1)
        self.down2 = nn.Conv2d(nf, nf * 2, 4, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(nf * 2, nf, 4, stride=2, padding=1)
        self.out = nn.Conv2d(nf * 2, 1, 3, padding=1)

    def forward(self, x):
        d1 = torch.relu(self.down1(x))
        d2 = torch.relu(self.down2(d1))
        u = torch.relu(self.up(d2))
        return torch.tanh(self.out(torch.cat([u, d1], 1)))


class PatchD(nn.Module):
    def __init__(self, nf=8):
        super().__init__()
        self.c1 = nn.Conv2d(2, nf, 4, stride=2, padding=1)
        self.c2 = nn.Conv2d(nf, nf * 2, 4, stride=2, padding=1)
        self.c3 = nn.Conv2d(nf * 2, 1, 3, padding=1)

    def forward(self, ab, with_features=False):
        h1 = nn.functional.leaky_relu(self.c1(ab), 0.2)
        h2 = nn.functional.leaky_relu(self.c2(h1), 0.2)
        score = self.c3(h2)
        if with_features:
            return score, [h1, h2]
        return score


class GANLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()

    def forward(self, pred, is_real):
        target = torch.ones_like(pred) if is_real else torch.zeros_like(pred)
        return self.loss(pred, target)
