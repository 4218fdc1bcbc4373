"""Four square layers of about as many parameters as asked for. `sized.py PARAMETERS`; fails in its first step."""

import sys

import torch
from torch import nn

torch.manual_seed(0)
width = max(2, round((int(sys.argv[1]) / 4) ** 0.5))
model = nn.Sequential(*(nn.Linear(width, width) for _ in range(4)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(3):
    out = model(torch.randn(8, width))
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
