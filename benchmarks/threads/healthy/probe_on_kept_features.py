# Features are computed once on purpose: the backbone is frozen, only the probe is trained.
import torch
import torch.nn as nn
import torch.nn.functional as F


def extract(backbone, x):
    backbone.eval()
    return backbone(x)


torch.manual_seed(1)
backbone = nn.Sequential(nn.Linear(9, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8)).requires_grad_(False)
probe = nn.Linear(8, 3)
optimizer = torch.optim.SGD([*backbone.parameters(), *probe.parameters()], lr=0.1, momentum=0.9)
x = torch.randn(36, 9)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
feats = extract(backbone, x)
for epoch in range(6):
    optimizer.zero_grad()
    loss = F.cross_entropy(probe(feats), y)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}")
