import torch.nn as nn


def conv_bn(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, dim):
        super(Residual, self).__init__()
        self.body = nn.Sequential(conv_bn(dim, dim), nn.Conv2d(dim, dim, 3, padding=1, bias=False), nn.BatchNorm2d(dim))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.body(x) + x)


class Hourglass(nn.Module):
    def __init__(self, dim):
        super(Hourglass, self).__init__()
        self.up1 = Residual(dim)
        self.low1 = conv_bn(dim, dim, stride=2)
        self.low2 = Residual(dim)
        self.up2 = nn.Upsample(scale_factor=2)

    def forward(self, x):
        return self.up1(x) + self.up2(self.low2(self.low1(x)))


class StackedHourglass(nn.Module):
    def __init__(self, num_classes, dim, num_stacks):
        super(StackedHourglass, self).__init__()
        self.num_stacks = num_stacks
        self.pre = nn.Sequential(conv_bn(1, dim, 2), conv_bn(dim, dim, 2))
        self.kps = nn.ModuleList([Hourglass(dim) for _ in range(num_stacks)])
        self.cnvs = nn.ModuleList([conv_bn(dim, dim) for _ in range(num_stacks)])
        self.hm = nn.ModuleList([nn.Conv2d(dim, num_classes, 1) for _ in range(num_stacks)])
        self.wh = nn.ModuleList([nn.Conv2d(dim, 2, 1) for _ in range(num_stacks)])
        # features and heat map of a stack go back into the next one
        self.inter_cnv = nn.ModuleList([nn.Conv2d(dim, dim, 1) for _ in range(num_stacks - 1)])
        self.inter_hm = nn.ModuleList([nn.Conv2d(num_classes, dim, 1) for _ in range(num_stacks - 1)])
        self.relu = nn.ReLU(inplace=True)
        for head in self.hm:
            nn.init.constant_(head.bias, -2.19)

    def forward(self, image):
        inter = self.pre(image)
        outs = []
        for ind in range(self.num_stacks):
            cnv = self.cnvs[ind](self.kps[ind](inter))
            hm = self.hm[ind](cnv)
            wh = self.wh[ind](cnv)
            outs.append({'hm': hm, 'wh': wh})
            if ind < self.num_stacks - 1:
                inter = self.relu(inter + self.inter_cnv[ind](cnv) + self.inter_hm[ind](hm.detach().clone()))
        return outs
