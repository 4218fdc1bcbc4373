import torch
import torch.nn as nn
import torch.nn.functional as F


class PrototypeLoss(nn.Module):
    """Every pixel should be nearest to the prototype (mean embedding) of its class.
    A class without a pixel in the batch keeps the prototype it had last."""

    def __init__(self, num_classes, emb_dim, temperature):
        super().__init__()
        self.num_classes = num_classes
        self.temperature = temperature
        self.prototypes = [p for p in F.normalize(torch.randn(num_classes, emb_dim), dim=1)]

    def forward(self, emb, labels):
        emb = emb.permute(0, 2, 3, 1).reshape(-1, emb.size(1))
        labels = labels.reshape(-1)
        for c in range(self.num_classes):
            mask = labels == c
            if mask.any():
                self.prototypes[c] = F.normalize(emb[mask].mean(dim=0), dim=0).detach()
        sim = emb @ torch.stack(self.prototypes).t()
        return F.cross_entropy(sim / self.temperature, labels)


class SegLoss(nn.Module):
    def __init__(self, num_classes, emb_dim, temperature):
        super().__init__()
        self.ce = nn.CrossEntropyLoss()
        self.proto = PrototypeLoss(num_classes, emb_dim, temperature)

    def forward(self, logits, emb, labels):
        return self.ce(logits, labels), self.proto(emb, labels)
