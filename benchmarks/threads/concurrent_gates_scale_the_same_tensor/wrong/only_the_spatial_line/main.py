import argparse

import torch
from torch import nn

from scse import SCSEBlock


class EncoderStage(nn.Module):
    def __init__(self, cin, cout, use_scse=True):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(cout)
        self.scse = SCSEBlock(cout) if use_scse else nn.Identity()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.scse(self.bn(self.conv(x))))


class SaltNet(nn.Module):
    """Segmentacion de sal, version minima"""

    def __init__(self, width=8):
        super().__init__()
        self.down1 = EncoderStage(1, width)
        self.down2 = EncoderStage(width, width)
        self.logit = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        return self.logit(self.down2(self.down1(x)))


def discos(n, size):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.rand(n, 2) * size
    r = 2 + torch.rand(n) * 2
    d = (yy - c[:, 0, None, None]) ** 2 + (xx - c[:, 1, None, None]) ** 2
    mask = (d < r[:, None, None] ** 2).float().unsqueeze(1)
    return mask + 0.3 * torch.randn_like(mask), mask


def bce_dice(logit, mask, w=0.5):
    p = torch.sigmoid(logit)
    inter = (p * mask).sum((1, 2, 3))
    dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)
    return w * nn.functional.binary_cross_entropy_with_logits(logit, mask) + (1 - w) * dice.mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--tta", action="store_true", help="sin usar")
    args = parser.parse_args()
    torch.manual_seed(8)
    img, mask = discos(16, 12)
    net = SaltNet()
    optim = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    for epoch in range(args.epochs):
        suma = 0.0
        for i in range(0, 16, 8):
            loss = bce_dice(net(img[i:i + 8]), mask[i:i + 8])
            optim.zero_grad()
            loss.backward()
            optim.step()
            suma += loss.item()
        print("epoca %d  %.6f" % (epoch, suma / 2))


if __name__ == "__main__":
    main()
