import random

import numpy as np
import torch.nn as nn
import torch.nn.functional as F

from utils import to_one_hot, mixup_process, get_lambda


class BasicBlock(nn.Module):
    def __init__(self, in_planes, planes, stride=1):
        super(BasicBlock, self).__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(nn.Conv2d(in_planes, planes, 1, stride=stride, bias=False),
                                          nn.BatchNorm2d(planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out)) + self.shortcut(x)
        return F.relu(out)


class SmallResNet(nn.Module):
    def __init__(self, num_classes, initial_channels):
        super(SmallResNet, self).__init__()
        c = initial_channels
        self.num_classes = num_classes
        self.conv1 = nn.Conv2d(1, c, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c)
        self.layer1 = BasicBlock(c, c)
        self.layer2 = BasicBlock(c, c * 2, stride=2)
        self.linear = nn.Linear(c * 2, num_classes)

    def forward(self, x, target=None, mixup_hidden=False, mixup_alpha=None):
        # one of the hidden layers is mixed, which one is drawn for each batch
        layer_mix = np.random.randint(1, 3) if mixup_hidden else None
        if mixup_hidden:
            lam = get_lambda(mixup_alpha)
            target_reweighted = to_one_hot(target, self.num_classes)

        out = F.relu(self.bn1(self.conv1(x)))
        out = self.layer1(out)
        if layer_mix == 1:
            out, target_reweighted = mixup_process(out, target_reweighted, lam)
        out = self.layer2(out)
        if layer_mix == 2:
            out, target_reweighted = mixup_process(out, target_reweighted, lam)
        out = out.mean((2, 3))
        out = self.linear(out)
        if target is not None:
            return out, target_reweighted
        return out
