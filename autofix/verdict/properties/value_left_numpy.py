"""A value left numpy on its way to the loss

## What it finds

A value that was computed of a tensor went into something whose derivative cannot be followed (a function that is not
numpy's, a file, a number of Python's), and the loss depends on what came out of it.

## Why it matters

The gradient that the loss is meant to have is not known then, so no edit can be held against it.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.experiments.losses import differ
from autofix.verdict.property import Evidence, Example, Finding, Seen

AVERAGED = """\
import statistics
import numpy as np

net = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(12, 3)
for _ in range(4):
    out = net(x)
    weight = statistics.fmean(out.square().mean(1).tolist())
    loss = torch.tensor(np.mean(out.detach().numpy() ** 2) + weight)
    train: loss
"""
EDIT = ("torch.tensor(np.mean(out.detach().numpy() ** 2) + weight)", "torch.mean(out ** 2) + weight")
PRINTED = AVERAGED.replace(" + weight)", "); print(weight)")
IN_NUMPY = AVERAGED.replace("statistics.fmean", "np.mean")


class ValueLeftNumpy(Seen):
    fact = "value-left-numpy"
    anyway = True
    sentence = "a value that the loss depends on leaves numpy here, and its gradient cannot be followed further"
    raises = (Example(AVERAGED, *EDIT),)
    silent = (
        Example(PRINTED, "torch.tensor(np.mean(out.detach().numpy() ** 2))", "torch.mean(out ** 2)"),
        Example(
            IN_NUMPY,
            EDIT[0],
            "torch.mean(out ** 2) + out.square().mean(1).mean()",
        ),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = self.first(evidence.letter)
        depends = found and (comparable(evidence.nudged) or differ(evidence.nudged, evidence.letter))
        return found if depends else None
