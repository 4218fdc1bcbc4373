from torch import nn


def build_model(cfg):
    return nn.Sequential(
        nn.Linear(cfg.dim, cfg.hidden),
        nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.classes),
    )
