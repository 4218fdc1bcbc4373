from torch import nn


def sign_net(width=8, classes=4):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.GroupNorm(2, width), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.GroupNorm(2, 2 * width), nn.ReLU(),
        nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(2 * width, classes),
    )
