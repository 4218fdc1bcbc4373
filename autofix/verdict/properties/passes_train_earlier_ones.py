"""Passes train earlier ones

## What it finds

A place goes backward in each pass, frees the graph there, and the optimizer steps once, after several passes: one
backward for each frame, window, time step or task. Each pass is handed something that the pass before made with the
same parameters, a frame or a hidden state, and the edit lets its backward go on through that: it keeps the graph, or
goes backward once for the sum of all losses. This is not said

- of what was made once, for all passes, and of a layer behind a layer: no pass makes that anew;
- where something that an optimizer owns learns from later passes alone, as what is written to a memory may;
- where the loss sums up the terms of earlier passes: then the sum is meant;
- where the code keeps the graph by itself, or training is the same either way.

## Why it matters

The code may mean either. A sum of losses over time is mostly trained through time. But a frame that was shown, a memory
or the state of a window before is mostly done when its own backward has freed it, and is then to be detached: with its
graph, each pass also pulls the earlier ones towards what suits it, and takes the longer the later it comes.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.verdict.left_open.handed_on import ended_by_call
from autofix.verdict.property import Evidence, Example, Finding, Property

FRAMES = """\
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    frames = torch.randn(4, 5, 3).cumsum(0)
    optimizer.zero_grad()
    before = None
    for frame in frames:
        shown = net(frame).tanh()
        loss = (shown - frame).square().mean()
        if before is not None:
            loss = loss + (shown - before).square().mean()
        before = shown
        loss.backward()
    optimizer.step()
"""
WINDOWS = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)
hidden = torch.zeros(5, 4)
for window in range(9):
    for _ in range(2):
        hidden = cell(torch.randn(5, 3), hidden)
    loss = head(hidden).square().mean() / 3
    loss.backward()
    if window % 3 == 2:
        optimizer.step()
        optimizer.zero_grad()
        HANDED
"""
ENCODED = """\
encoder, cell, head = nn.Linear(3, 4), nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *cell.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    told, hidden = encoder(torch.randn(5, 3)).tanh(), torch.zeros(5, 4)
    for _ in range(3):
        hidden = cell(torch.randn(5, 3), hidden)
        head(hidden + told).square().mean().backward()
    optimizer.step()
"""
PARTS = """\
trunk, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    for part in trunk(torch.randn(6, 3)).tanh().split(2):
        head(part).square().mean().backward()
    optimizer.step()
"""
ANCHORS = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    anchors = net(torch.randn(2, 3)).tanh()
    for part in torch.randn(6, 3).split(2):
        (net(part).tanh() - anchors).square().mean().backward()
    optimizer.step()
"""
LAYERS = """\
layers, heads = (nn.ModuleList(nn.Linear(4, size) for _ in range(3)) for size in (4, 1))
optimizer = torch.optim.SGD([*layers.parameters(), *heads.parameters()], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    x = torch.randn(6, 4)
    for layer, head in zip(layers, heads):
        x = layer(x).tanh()
        head(x).square().mean().backward()
    optimizer.step()
"""
MEMORY = """\
write, read, head = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*write.parameters(), *read.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    memory = torch.zeros(5, 4)
    for _ in range(3):
        seen = torch.randn(5, 3)
        loss = head(memory * read(seen).sigmoid()).square().mean()
        memory = memory.tanh() + write(seen)
        loss.backward()
    optimizer.step()
"""
SUMMED = FRAMES.replace("before = None", "before, total = None, 0.0").replace(
    "        loss.backward()", "        total = total + loss\n        total.backward()"
)
UNTIL_THE_STEP = (
    "loss.backward()\n",
    "loss.backward(retain_graph=True)\n    if window % 3 == 2:\n        hidden = hidden.detach()\n",
)
KEPT = ("backward()", "backward(retain_graph=True)")


class PassesTrainEarlierOnes(Property):
    sentence = (
        "this backward goes on into the graph of an earlier iteration, whose own backward freed it; what is handed "
        "over may be meant as a constant"
    )
    raises = (
        Example(FRAMES, *KEPT),
        Example(WINDOWS.replace("HANDED", "hidden = hidden.detach()"), *KEPT),
        Example(ENCODED, *KEPT),
        Example(WINDOWS.replace("HANDED", "pass"), *UNTIL_THE_STEP),
    )
    silent = (
        Example(PARTS, *KEPT),
        Example(ANCHORS, *KEPT),
        Example(LAYERS, *KEPT),
        Example(MEMORY, *KEPT),
        Example(SUMMED, "        total.backward()", "    total.backward()"),
        Example(FRAMES, "before = shown", "before = shown.detach()"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        reading = evidence.reading
        if replace(reading, truncated=False) != evidence.code:
            return None
        return self.found(evidence.failure.stack) if ended_by_call(evidence, reading) is not None else None
