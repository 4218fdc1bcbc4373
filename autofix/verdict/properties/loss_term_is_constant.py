"""A term of a loss trains nothing

## What it finds

torch refused to turn a tensor into an array or a number, and the value comes back as a term of a loss: a small change
of it changes the loss, but no gradient. Or numpy alone makes a term of a loss of it, which stands beside others: as a
number it trains nothing, whatever the sum is multiplied by.

## Why it matters

A score that is computed with numpy trains nothing. An array that is an input, a target or a weight is a constant, as
everybody knows; but then a small change of it changes some gradient.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.core.model import Refused
from autofix.experiments.compare import comparable, same_gradients
from autofix.verdict.losses import losses
from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from autofix.core.model import Finding
    from autofix.verdict.evidence import Evidence

SCORED = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(4):
    out = net(x)
    array = net(x + 1).numpy()
    loss = torch.from_numpy((array - y.numpy()) ** 2).mean() + out.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOSS = "torch.from_numpy((array - y.numpy()) ** 2).mean() + out.square().mean()"
AS_TARGET = SCORED.replace(LOSS, "nn.functional.mse_loss(out, torch.from_numpy(array) + y)")
AS_WEIGHT = SCORED.replace(LOSS, "(torch.from_numpy(array) * out).mean()")
DENSITY = """
import numpy as np
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    mean, spread, weight = net(torch.randn(12, 3)).chunk(3, 1)
    variance = spread.exp()
    density = torch.from_numpy(0.5 * np.log(variance.numpy())) + (1 - mean) ** 2 / (2 * variance)
    loss = density.mean() + (weight.sigmoid() * density).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CUT = ("variance.numpy()", "variance.detach().numpy()")
WEIGHED = DENSITY.replace(" + (1 - mean) ** 2 / (2 * variance)", " * (1 - mean) ** 2")
EDIT = ("net(x + 1).numpy()", "net(x + 1).detach().numpy()")


class LossTermIsConstant(Property):
    name, former = "loss-term-is-constant", "constant"
    runs = ("letter", "nudged")
    sentence = "what leaves the graph here comes back as a term of a loss, and no gradient depends on it"
    raises = (Example(SCORED, *EDIT), Example(DENSITY, *CUT))
    silent = (Example(AS_TARGET, *EDIT), Example(AS_WEIGHT, *EDIT), Example(WEIGHED, *CUT))

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.converts:
            return None
        letter, nudged = evidence.letter, evidence.nudged
        if comparable(nudged) or losses(nudged) == losses(letter):
            return None
        if not same_gradients(letter, nudged) and not _stands_alone(evidence):
            return None
        return self.found(evidence.failure.stack)


def _stands_alone(evidence: Evidence) -> bool:
    """Whether a term of a loss is made of arrays alone: with the graph kept through numpy, nothing else is in it."""
    if evidence.through_numpy or not evidence.assessment.effect.keeps_gradients:
        return False
    return bool(evidence.of(replace(evidence.code, refused=Refused.OPERATION)).seen("term-is-array"))
