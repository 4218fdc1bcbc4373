"""The loss has another value

## What it finds

The code computes its loss with numpy, the edit with torch, and at some step before which both made the same updates the
loss is not the same number.

## Why it matters

An expression translated from one library to the other has to give the same value, not the same gradient alone: the
loss is printed, compared with the best so far, and stops the training.
"""

from __future__ import annotations

import math

from autofix.experiments.losses import losses
from autofix.verdict.property import Evidence, Example, Finding, Property

_CLOSE = 1e-4
SCORE = """\
import numpy as np

net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(12, 3), torch.randn(12, 2)
for _ in range(4):
    out = net(x)
    loss = torch.tensor(1 - np.exp(-np.mean((out.detach().numpy() - y.numpy()) ** 2)))
    train: loss
"""
OLD = "torch.tensor(1 - np.exp(-np.mean((out.detach().numpy() - y.numpy()) ** 2)))"
NEW = "1 - torch.exp(-torch.mean((out - y) ** 2))"


class LossHasAnotherValue(Property):
    anyway = True
    sentence = "the loss is {now} with the edit, and {was} in the code"
    raises = (Example(SCORE, OLD, NEW.replace("1 -", "2 -")),)
    silent = (Example(SCORE, OLD, NEW), Example(SCORE, OLD, NEW.replace("(out - y) ** 2", "torch.square(out - y)")))

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.through_numpy:
            return None
        after = evidence.before_failure
        for was, now in zip(losses(evidence.letter, after), losses(evidence.edited, after), strict=False):
            for one, other in zip(was, now, strict=False):
                if not math.isclose(one, other, rel_tol=_CLOSE, abs_tol=1e-7):
                    return self.found(was=f"{one:.6g}", now=f"{other:.6g}")
        return None
