"""A tensor is written by a second name

## What it finds

A name was given to what another name stands for (`masked = scores`), the new one was written by (`masked[:, :2] = 0`,
`masked.mul_(2)`), and the old one is read afterwards, or what the caller handed over for it. A run in which the write
goes to a copy trains otherwise, and the edit keeps the write as it is. This is not said of what is read by the new name
alone, nor of attributes and containers. Where the write shows in nothing but what is printed, it is said of an edit
that prints what the code prints.

## Why it matters

Both names are one tensor, so the old one shows the write, too. Who gives a tensor a second name before writing mostly
means a copy; `.clone()` makes one.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Finding
from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.syntax.sources import Sources
from autofix.verdict.evidence import Evidence
from autofix.verdict.property import Example, Property
from autofix.verdict.second_name import second_name

BLOCK = """
import torch
from torch import nn

torch.manual_seed(0)
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    gate = torch.sigmoid(net(torch.randn(6, 3)))
    masked = gate
    masked[:, :2] = 0.5
    loss = (head(masked) * READ).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HELPED = (
    BLOCK.replace("READ", "gate")
    .replace("    masked = gate\n    masked[:, :2] = 0.5", "    masked = halved(gate)")
    .replace("for _", "def halved(x):\n    out = x\n    out[:, :2] = 0.5\n    return out\n\n\nfor _", 1)
)
PRINTED = f"{BLOCK.replace('READ', 'masked')}    print(float(gate.mean()))\n"
SPARED = ("torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()")


class OtherNameIsWritten(Property):
    name = "other-name-is-written"
    runs = ("edited", "letter", "trace")
    sentence = "{subject} is read after it was written to here by another name; it may be meant to keep its value"
    raises = (
        Example(BLOCK.replace("READ", "gate"), *SPARED),
        Example(BLOCK.replace("READ", "gate").replace("masked[:, :2] = 0.5", "masked.clamp_(max=0.5)"), *SPARED),
        Example(HELPED, *SPARED),
        Example(PRINTED, *SPARED),
    )
    silent = (
        Example(BLOCK.replace("READ", "masked"), *SPARED),
        Example(BLOCK.replace("READ", "len(gate)"), *SPARED),
        Example(PRINTED, "masked = gate", "masked = gate.clone()"),
        Example(HELPED.replace("* gate", "* masked"), *SPARED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = evidence.assessment
        kept = found.reading is not None and found.reading.copied
        if kept or not found.effect.keeps_gradients or not evidence.case.pool.copied:
            return None
        sources = Sources.of(evidence.case.pool.target)
        for write in (write for saved in evidence.trace.saved for write in saved.writes if write.optimizer < 0):
            if (name := second_name(sources, write.stack)) and _matters(evidence):
                return self.found(write.stack[:1], subject=name)
        return None


def _matters(evidence: Evidence) -> bool:
    """Whether the program trains otherwise if the write goes to a copy, or prints otherwise, and the edit does not."""
    letter, other = evidence.letter, evidence.of(replace(evidence.code, copied=True))
    if comparable(other):
        return False
    if differences(letter, other, LIVE):
        return True
    printed = differences(letter, other, LIVE, printed=True)
    return bool(printed) and not differences(letter, evidence.edited, LIVE, printed=True)
