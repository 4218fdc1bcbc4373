import argparse
import logging
import math

import torch
import torch.nn as nn

logger = logging.getLogger(__name__)


class Detect(nn.Module):
    stride = torch.tensor([8., 16.])

    def __init__(self, nc=3, anchors=2, ch=(6, 8)):
        super().__init__()
        self.nc, self.no, self.na = nc, nc + 5, anchors
        self.m = nn.ModuleList(nn.Conv2d(x, self.no * anchors, 1) for x in ch)

    def forward(self, x):
        return [m(f).view(len(f), self.na, self.no, -1).transpose(2, 3) for m, f in zip(self.m, x)]


class Model(nn.Module):
    def __init__(self, nc=3):
        super().__init__()
        self.stem, self.down = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 8, 3, 2, 1)
        self.detect = Detect(nc)
        self._initialize_biases()  # only run once

    def forward(self, x):
        a = torch.relu(self.stem(x))
        return self.detect([a, torch.relu(self.down(a))])

    def _initialize_biases(self, cf=None):
        m = self.detect
        for mi, s in zip(m.m, m.stride):
            b = mi.bias.view(m.na, -1)
            b.data[:, 4] += math.log(8 / (640 / s) ** 2)
            b.data[:, 5:] += math.log(0.6 / (m.nc - 0.99)) if cf is None else torch.log(cf / cf.sum())
            mi.bias = torch.nn.Parameter(b.view(-1), requires_grad=True)


def train(opt):
    torch.manual_seed(opt.seed)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr, momentum=0.9, nesterov=True)
    for i in range(opt.epochs):
        imgs = torch.rand(4, 1, 6, 6)
        p = torch.cat([o.flatten(1, 2) for o in model(imgs)], 1)
        obj = (imgs.mean((1, 2, 3)) > 0.5).float()[:, None].expand(p.shape[:2])
        loss = nn.functional.binary_cross_entropy_with_logits(p[..., 4], obj) + p[..., :4].pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print('%.6f' % loss.item(), '%.6f' % model.detect.m[0].bias.sum().item())


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=5)
    parser.add_argument('--lr', type=float, default=0.05)
    parser.add_argument('--seed', type=int, default=2408)
    train(parser.parse_args())
