# Gradient accumulation: the backward stands in the inner loop on purpose, each on its own addend.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 2))
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for it in range(5):
    opt.zero_grad()
    shown = 0.0
    for _ in range(4):
        x = torch.randn(8, 5)
        loss = F.cross_entropy(net(x), (x[:, 0] > x[:, 1]).long()) / 4
        loss.backward()
        shown += loss.item()
    opt.step()
print(f"{shown:.6f}")
