import torch.nn as nn


def mlp(n_in, width, n_out, depth):
    layers = [nn.Linear(n_in, width), nn.Softplus()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.Softplus()]
    return nn.Sequential(*layers, nn.Linear(width, n_out))
