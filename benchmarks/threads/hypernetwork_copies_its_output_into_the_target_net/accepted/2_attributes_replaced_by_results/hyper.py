import torch
import torch.nn as nn


class Target(nn.Module):
    # 目标网络：自己不训练，权重全部由超网络给出
    def __init__(self, hidden):
        super(Target, self).__init__()
        self.l1 = nn.Linear(1, hidden)
        self.l2 = nn.Linear(hidden, hidden)
        self.l3 = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.tanh(self.l1(x))
        x = torch.tanh(self.l2(x))
        return self.l3(x)


class HyperNet(nn.Module):
    """Maps a task descriptor to {name: weight} of the target."""
    def __init__(self, target, cond_dim, width):
        super(HyperNet, self).__init__()
        self.shapes = {k: v.shape for k, v in target.named_parameters()}
        self.trunk = nn.Sequential(nn.Linear(cond_dim, width), nn.ReLU())
        self.heads = nn.ModuleDict({k.replace('.', '_'): nn.Linear(width, s.numel()) for k, s in self.shapes.items()})
        for h in self.heads.values():
            nn.init.normal_(h.weight, std=0.05)

    def forward(self, cond):
        z = self.trunk(cond)
        return {k: self.heads[k.replace('.', '_')](z).view(s) for k, s in self.shapes.items()}


def load_weights(target, weights):
    """把生成的权重放进目标网络"""
    for name, w in weights.items():
        layer, key = name.split('.')
        layer = getattr(target, layer)
        layer._parameters.pop(key, None)
        setattr(layer, key, w)
    return target
