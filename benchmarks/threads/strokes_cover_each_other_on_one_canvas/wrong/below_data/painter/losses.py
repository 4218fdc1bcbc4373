import torch
import torch.nn.functional as F
from torch import nn


class ImageLoss(nn.Module):
    def __init__(self, edge_weight=0.5):
        super().__init__()
        self.edge_weight = edge_weight

    @staticmethod
    def edges(img):
        return torch.cat([img.diff(dim=-1).flatten(), img.diff(dim=-2).flatten()])

    def forward(self, picture, target):
        l1 = F.smooth_l1_loss(picture, target, beta=0.1)
        edge = F.mse_loss(self.edges(picture), self.edges(target))
        return l1 + self.edge_weight * edge, {"l1": l1.item(), "edge": edge.item()}
