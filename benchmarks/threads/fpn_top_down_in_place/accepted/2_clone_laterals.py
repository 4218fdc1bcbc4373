import torch
import torch.nn as nn
import torch.nn.functional as F


class FPNHead(nn.Module):
    def __init__(self, channels=(4, 6, 8), out=6):
        super().__init__()
        self.lateral_convs = nn.ModuleList(nn.Sequential(nn.Conv2d(c, out, 1), nn.ReLU()) for c in channels)
        self.fpn_convs = nn.ModuleList(nn.Conv2d(out, out, 3, padding=1) for _ in channels)

    def forward(self, inputs):
        # build laterals
        laterals = [conv(x).clone() for conv, x in zip(self.lateral_convs, inputs)]
        # build top-down path
        for i in range(len(laterals) - 1, 0, -1):
            prev_shape = laterals[i - 1].shape[2:]
            laterals[i - 1] += F.interpolate(laterals[i], size=prev_shape, mode='nearest')
        return [conv(x) for conv, x in zip(self.fpn_convs, laterals)]


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 4, 3, padding=1)
        self.c2 = nn.Conv2d(4, 6, 3, stride=2, padding=1)
        self.c3 = nn.Conv2d(6, 8, 3, stride=2, padding=1)
        self.head = FPNHead()
        self.density = nn.Conv2d(6, 1, 1)

    def forward(self, x):
        a = torch.tanh(self.c1(x))
        b = torch.tanh(self.c2(a))
        c = torch.tanh(self.c3(b))
        return [self.density(p).mean((1, 2, 3)) for p in self.head([a, b, c])]


if __name__ == '__main__':
    torch.manual_seed(101)
    model = Counter()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(5):
        img = torch.rand(6, 1, 8, 8)
        gt = img.mean((1, 2, 3))
        loss = sum(F.mse_loss(p, gt) for p in model(img))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print('loss %.6f' % loss.item())
