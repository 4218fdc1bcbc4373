"""An array follows the weights

## What it finds

The edited script takes an array of a parameter (`best = w.detach().numpy()`), which shares its memory, and shows or
uses it behind a later step. A run in which such arrays keep the values that they were taken with prints other numbers,
or trains otherwise. Nothing is said where the array is read before the next step.

## Why it matters

The best weights, those of the start, or of the epoch before are then the latest ones, and what compares them is always
0. Who keeps an array mostly wants the values of that time: `.detach().numpy().copy()`.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.experiments.compare import differences
from autofix.experiments.sketches import LIVE
from autofix.verdict.property import Evidence, Example, Finding, Property, Treatment

BEST = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
START
for number in range(60):
    loss = (net(torch.randn(5, 3)) - 1).square().mean()
    train: loss
    SHOWN
"""
START = BEST.replace("START", "start = net.weight.numpy()").replace(
    "SHOWN", "if number == 50:\n        print(float(abs(net.weight.detach().numpy() - start).sum()))"
)
LATEST = BEST.replace("START", "").replace("SHOWN", "print(net.weight.numpy().sum())")
EACH = "now = net.weight.numpy()\n    print(abs(now - before).sum())\n    before = now"
ROUNDS = BEST.replace("START", "before = 0").replace("SHOWN", EACH)
TAKEN, DETACHED, COPIED = "net.weight.numpy()", "net.weight.detach().numpy()", "net.weight.detach().numpy().copy()"


class ArrayFollowsWeight(Property):
    last = True
    sentence = (
        "an array shares the memory of a weight, and is read behind later steps: it then shows the latest values; a "
        "copy (`.detach().numpy().copy()`) would keep those of its time"
    )
    raises = (Example(START, TAKEN, DETACHED), Example(ROUNDS, TAKEN, DETACHED))
    silent = (
        Example(START, TAKEN, COPIED),
        Example(ROUNDS, TAKEN, COPIED),
        Example(LATEST, TAKEN, DETACHED),
        Example(START.replace("- start", "- 1"), TAKEN, DETACHED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        files = evidence.edited_sources.project(str(evidence.case.pool.target.script))
        taken = any(word in one.text for one in files for word in ("numpy(", "asarray(", "array("))
        if not taken or replace(evidence.reading, truncated=False) != evidence.reading.letter:
            return None
        made = evidence.further(evidence.reading, (Treatment.LIVE,))
        # In the code's run they keep their values: where it does the same as the edit, it makes no difference.
        if made is not None and not differences(made.code, made.edited, LIVE, printed=evidence.prints_alike):
            return None
        kept, shared = evidence.sharing(evidence.reading)
        if not (kept.ended_well and shared.ended_well):
            return None
        return self.found() if differences(kept, shared, LIVE, printed=evidence.prints_alike) else None
