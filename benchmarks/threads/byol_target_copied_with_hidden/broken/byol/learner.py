import copy

import torch
from torch import nn
import torch.nn.functional as F

from .wrapper import MLP, NetWrapper


def loss_fn(x, y):
    return 2 - 2 * (F.normalize(x, dim=-1) * F.normalize(y, dim=-1)).sum(dim=-1)


class EMA:
    def __init__(self, beta):
        self.beta = beta

    def update(self, ma_model, model):
        for ma, p in zip(ma_model.parameters(), model.parameters()):
            ma.data = ma.data * self.beta + (1 - self.beta) * p.data


class BYOL(nn.Module):
    def __init__(self, net, hidden_layer, projection_size, projection_hidden_size, moving_average_decay):
        super().__init__()
        self.online_encoder = NetWrapper(net, hidden_layer, projection_size, projection_hidden_size)
        self.online_predictor = MLP(projection_size, projection_size, projection_hidden_size)
        self.ema = EMA(moving_average_decay)
        self._target = []           # in a list: not a submodule, not in parameters()

    def warm_up(self, x):
        with torch.no_grad():
            self.online_encoder(x)

    def target_encoder(self):
        if not self._target:
            self._target.append(copy.deepcopy(self.online_encoder))
            for p in self._target[0].parameters():
                p.requires_grad = False
            target = self._target[0]
            module = dict(target.net.named_modules())[target.layer]
            module._forward_hooks.clear()
            target._register_hook()
        return self._target[0]

    def update_moving_average(self):
        self.ema.update(self.target_encoder(), self.online_encoder)

    def forward(self, x1, x2):
        online_one = self.online_predictor(self.online_encoder(x1))
        online_two = self.online_predictor(self.online_encoder(x2))
        with torch.no_grad():
            target_one = self.target_encoder()(x1)
            target_two = self.target_encoder()(x2)
        return (loss_fn(online_one, target_two) + loss_fn(online_two, target_one)).mean()
