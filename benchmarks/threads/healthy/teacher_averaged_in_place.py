# A mean teacher: its parameters are written in place on purpose, and its outputs are constants.
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
student = nn.Sequential(nn.Linear(6, 14), nn.ReLU(), nn.Linear(14, 4))
teacher = copy.deepcopy(student).requires_grad_(False)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for it in range(6):
    x = torch.randn(16, 6)
    target = F.softmax(teacher(x) / 0.5, -1)
    loss = -(target * F.log_softmax(student(x + 0.1 * torch.randn_like(x)), -1)).sum(-1).mean()
    loss = loss + F.cross_entropy(student(x), x[:, :4].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(0.9).add_(s, alpha=0.1)
print(f"{loss.item():.6f} {teacher[0].weight.norm().item():.6f}")
