"""A write mixes a parameter with itself

## What it finds

torch refuses a write to a leaf, and the statement also reads that leaf by another name: `shadow[n].mul_(0.9).add_(p)`,
where the shadow holds the parameters themselves; a target network that is the online one; a backup of weights that was
never copied. The edit performs the write. A name that was given to the other (`w = layer.weight`), the leaf's own
gradient, and its shape are no such case.

## Why it matters

The code says so to the letter, and nobody means it: an average of a parameter with itself moves nothing, or shrinks
what is trained. What was to be kept apart needs memory of its own (`.detach().clone()`, `copy.deepcopy`).
"""

from __future__ import annotations

from autofix.verdict.property import Example, OfTheCode

AVERAGE = """\
import copy

net = nn.Linear(3, 2)
kept = KEPT
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 3)).square().mean()
    train: loss
    for k, p in zip(kept.parameters(), net.parameters()):
        WRITE
"""
BLEND = "k.copy_(0.9 * k + 0.1 * p)"
DECAY = AVERAGE.replace("KEPT", "copy.deepcopy(net)").replace("WRITE", "p -= 0.01 * p")
SHADOW = """\
net = nn.Linear(3, 2)
shadow = {n: p for n, p in net.named_parameters()}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 3)).square().mean()
    train: loss
    for n, p in net.named_parameters():
        shadow[n].mul_(0.9).add_(p, alpha=0.1)
"""


def _quietly(line: str) -> tuple[str, str]:
    return f"        {line}\n", f"        with torch.no_grad():\n            {line}\n"


class WriteMixesWithItself(OfTheCode):
    fact = "mixed-with-itself"
    sentence = "{subject} are one tensor, and this line mixes it with itself. To keep the two apart, make a copy"
    raises = (
        Example(AVERAGE.replace("KEPT", "net").replace("WRITE", BLEND), *_quietly(BLEND)),
        Example(SHADOW, *_quietly("shadow[n].mul_(0.9).add_(p, alpha=0.1)")),
    )
    silent = (
        Example(AVERAGE.replace("KEPT", "copy.deepcopy(net)").replace("WRITE", BLEND), *_quietly(BLEND)),
        Example(DECAY, *_quietly("p -= 0.01 * p")),
    )
