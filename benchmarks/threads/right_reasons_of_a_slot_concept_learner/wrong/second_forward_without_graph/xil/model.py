import torch
from torch import nn


class SlotAttention(nn.Module):
    def __init__(self, n_slots, dim, iters=2):
        super().__init__()
        self.iters, self.scale = iters, dim ** -0.5
        self.init = nn.Parameter(torch.randn(1, n_slots, dim) * 0.5)
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.gru = nn.GRUCell(dim, dim)

    def forward(self, x):
        b, d = x.size(0), x.size(-1)
        slots = self.init.expand(b, -1, -1)
        k, v = self.k(x), self.v(x)
        for _ in range(self.iters):
            att = (self.q(slots) @ k.transpose(1, 2) * self.scale).softmax(dim=1) + 1e-8
            att = att / att.sum(-1, keepdim=True)
            upd = att @ v
            slots = self.gru(upd.reshape(-1, d), slots.reshape(-1, d)).view(b, -1, d)
        return slots


class SetClassifier(nn.Module):
    """Attention pooling over the rows of the symbolic table."""

    def __init__(self, n_concepts, n_classes, width=24):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(n_concepts, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.gate = nn.Linear(width, 1)
        self.out = nn.Linear(width, n_classes)

    def forward(self, table):
        h = self.embed(table)
        w = self.gate(h).softmax(dim=1)
        return self.out((w * h).sum(1))


class ConceptLearner(nn.Module):
    def __init__(self, n_feat, n_slots, n_concepts, n_classes):
        super().__init__()
        self.slots = SlotAttention(n_slots, n_feat)
        self.to_concepts = nn.Linear(n_feat, n_concepts)
        self.classifier = SetClassifier(n_concepts, n_classes)

    def freeze_perception(self):
        for m in (self.slots, self.to_concepts):
            for p in m.parameters():
                p.requires_grad_(False)

    def perceive(self, patches):
        with torch.no_grad():
            return torch.sigmoid(self.to_concepts(self.slots(patches)))

    def forward(self, patches):
        table = self.perceive(patches).requires_grad_()
        return self.classifier(table), table
