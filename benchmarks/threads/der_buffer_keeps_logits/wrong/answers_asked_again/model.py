import torch.nn as nn


def backbone(n_in=10, n_hidden=48, n_classes=6):
    net = nn.Sequential(
        nn.Linear(n_in, n_hidden),
        nn.ReLU(),
        nn.Linear(n_hidden, n_hidden),
        nn.ReLU(),
        nn.Linear(n_hidden, n_classes),
    )
    return net
