# Gated heads: each batch trains the head of its own domain; the others have no gradient in that step.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(22)
trunk = nn.Sequential(nn.Linear(5, 12), nn.ReLU())
heads = nn.ModuleList(nn.Linear(12, 2) for _ in range(3))
opt = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=5e-3)
for it in range(9):
    x, domain = torch.randn(12, 5), (0, 0, 0, 0, 1, 2, 1, 0, 2)[it]
    loss = F.cross_entropy(heads[domain](trunk(x)), (x[:, domain] > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")
