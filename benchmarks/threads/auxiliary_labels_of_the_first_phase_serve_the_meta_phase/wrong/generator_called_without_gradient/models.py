import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiTaskNet(nn.Module):
    def __init__(self, dim, n_class, psi):
        super(MultiTaskNet, self).__init__()
        self.body = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(True), nn.Linear(32, 32), nn.ReLU(True))
        self.classifier1 = nn.Linear(32, n_class)
        self.classifier2 = nn.Linear(32, sum(psi))

    def forward(self, x):
        feat = self.body(x)
        return F.softmax(self.classifier1(feat), 1), F.softmax(self.classifier2(feat), 1)


class LabelGenerator(nn.Module):
    """Gives every sample a soft sub-class among those of its own class (mask softmax)."""

    def __init__(self, dim, psi):
        super(LabelGenerator, self).__init__()
        self.psi = psi
        index = torch.zeros(len(psi), sum(psi))
        pos = 0
        for i, n in enumerate(psi):
            index[i, pos:pos + n] = 1.
            pos += n
        self.register_buffer('class_mask', index)
        self.body = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(True), nn.Linear(32, sum(psi)))

    def forward(self, x, y):
        logits = self.body(x)
        mask = self.class_mask[y]
        e = torch.exp(logits - logits.max(1, keepdim=True)[0]) * mask
        return e / (e.sum(1, keepdim=True) + 1e-8)
