import torch
import torch.nn.functional as F
from torch import nn

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class FeatureLoss(nn.Module):
    """Distance of the features of a frozen network (here: random convolutions in place of VGG)."""

    def __init__(self, width=8):
        super().__init__()
        self.register_buffer("mean", torch.tensor(IMAGENET_MEAN).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor(IMAGENET_STD).view(1, 3, 1, 1))
        self.stages = nn.ModuleList([nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, width, 3, 2, 1)])
        for p in self.parameters():
            p.requires_grad_(False)

    def normalize(self, x):
        x.data.sub_(self.mean).div_(self.std)
        return x

    def features(self, x):
        out = []
        x = self.normalize(x)
        for stage in self.stages:
            x = F.relu(stage(x))
            out.append(x)
        return out

    def forward(self, pred, target):
        loss = 0.0
        for a, b in zip(self.features(pred), self.features(target)):
            loss = loss + F.mse_loss(a, b)
        return loss
