"""A term of the loss is a constant array

## What it finds

torch refuses to turn a tensor that is trained into an array, and what numpy computes of it becomes a term of a loss, by
itself: added to the others, with no graph of torch's own. The edit hands the values over without their graph. This is
not said of an array that weighs a term, nor of a target or an input, nor of what is only printed.

## Why it matters

Such a term is a number that nothing learns from. Elsewhere an array is a constant as a rule; but who adds a number to a
loss wants to train it. The gradient that is missing then changes what everything else learns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.core.model import Refused
from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from autofix.core.model import Finding
    from autofix.verdict.evidence import Evidence

DENSITY = """
import numpy as np
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    mean, spread = net(torch.randn(12, 3)).chunk(2, 1)
    variance = spread.exp()
    loss = (torch.from_numpy(0.5 * np.log(variance.numpy())) + (1 - mean) ** 2 / (2 * variance)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CUT = ("variance.numpy()", "variance.detach().numpy()")
LOSS = "(torch.from_numpy(0.5 * np.log(variance.numpy())) + (1 - mean) ** 2 / (2 * variance)).mean()"
TERM = DENSITY.replace(LOSS, "torch.tensor(np.mean(np.log(variance.numpy()))) + ((1 - mean) ** 2).mean()")
WEIGHT = DENSITY.replace(" + (1 - mean) ** 2 / (2 * variance)", " * (1 - mean) ** 2")
TARGET = DENSITY.replace(" + (1 - mean) ** 2 / (2 * variance)).mean()", " - mean).square().mean()")
PRINTED = DENSITY.replace(LOSS, "((1 - mean) ** 2 / variance).mean(); print(np.log(variance.numpy()).mean())")


class TermIsArray(Property):
    name = "term-is-array"
    runs = ("letter",)
    sentence = "a term of the loss is computed with numpy of what is converted here, and is a constant then"
    raises = (Example(DENSITY, *CUT), Example(TERM, *CUT))
    silent = (Example(WEIGHT, *CUT), Example(TARGET, *CUT), Example(PRINTED, *CUT))

    def find(self, evidence: Evidence) -> Finding | None:
        kept = evidence.assessment.effect.keeps_gradients
        if not kept or not evidence.converts or evidence.through_numpy:
            return None
        followed = evidence.of(replace(evidence.code, refused=Refused.OPERATION))
        found = next(iter(followed.seen("term-is-array")), None)
        return self.found(found.stack) if found else None
