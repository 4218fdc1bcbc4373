"""The graph grows from pass to pass

## What it finds

The same backward call reaches ever more operations of earlier passes: a state is carried over, and its graph is kept.

## Why it matters

Memory and time have no bound. Cut the state where it is stored.
"""

from __future__ import annotations

from autofix.verdict.property import Example, Seen

CARRIED = """
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
hidden = torch.zeros(5, 4)
for _ in range(8):
    hidden = cell(torch.randn(5, 3), hidden)
    loss = head(hidden).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class GraphGrowsEachPass(Seen):
    name, former, fact = "graph-grows-each-pass", "growth", "growth"
    sentence = "this backward reaches {subject} nodes of earlier passes, and more each time"
    raises = (Example(CARRIED, "loss.backward()", "loss.backward(retain_graph=True)"),)
    silent = (Example(CARRIED, "torch.randn(5, 3), hidden)", "torch.randn(5, 3), hidden.detach())"),)
