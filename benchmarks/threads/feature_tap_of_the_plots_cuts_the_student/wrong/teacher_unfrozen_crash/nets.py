from collections import OrderedDict

import torch.nn as nn


def small_cnn(width, classes=4):
    return nn.Sequential(OrderedDict([
        ("block1", nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())),
        ("pool", nn.MaxPool2d(2)),
        ("block2", nn.Sequential(nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU())),
        ("flatten", nn.Flatten()),
        ("head", nn.Linear(2 * width * 16, classes)),
    ]))
