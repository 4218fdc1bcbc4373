"""A term of a loss trains nothing

## What it finds

torch refused to turn a tensor into an array or a number, and the value comes back as a term of a loss: a small change
of it changes the loss, but no gradient.

## Why it matters

A score that is computed with numpy trains nothing. An array that is an input, a target or a weight is a constant, as
everybody knows; but then a small change of it changes some gradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
EDIT = ("net(x + 1).numpy()", "net(x + 1).detach().numpy()")


class LossTermIsConstant(Property):
    name, former = "loss-term-is-constant", "constant"
    runs = ("letter", "nudged")
    sentence = "what leaves the graph here comes back as a term of a loss, and no gradient depends on it"
    raises = (Example(SCORED, *EDIT),)
    silent = (Example(AS_TARGET, *EDIT), Example(AS_WEIGHT, *EDIT))

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.converts:
            return None
        letter, nudged = evidence.letter, evidence.nudged
        if comparable(nudged) or losses(nudged) == losses(letter) or not same_gradients(letter, nudged):
            return None
        return self.found(evidence.failure.stack)
