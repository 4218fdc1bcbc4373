"""Two losses of one output; the edits that are tried scale the first. Prints its own compute and fails."""

import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
began = time.perf_counter()
try:
    for _ in range(10):
        out = model(torch.randn(8, 16))
        first, second = out.square().mean(), out.abs().mean()
        optimizer.zero_grad()
        first.backward()
        second.backward()
        optimizer.step()
finally:
    print(f"elapsed {time.perf_counter() - began:.6f}", flush=True)
