"""What is compared is the older

## What it says

A program holds what it computes in each pass against what it computed in the same way before them: the weights that a
hypernetwork gave before a new task, parameters before an inner loop, a prediction before the epochs that change it.
Were that computed anew, too, both sides would be the same in every pass, whatever the parameters are: their difference
would be 0, their ratio 1, and nothing would be trained by it. So the older value is meant, in all passes.

The code as written breaks that where a graph is kept with the older value: its gradient would be that of parameters
which are no more, and take away what the newer side is sent. The reading that keeps the law has a constant there.

That both are computed in the same way is seen by a run in which parameters stay where they are: both sides are then
equal in all numbers, in every pass, though each has a graph of its own. While parameters move they are so before the
first step at least: a run with parameters at rest repeats random draws, this one does not.

## Where it is silent

Where both sides differ even then: other data, other layers, other draws. Where something else that passes share is
compared with nothing: it may be meant to be computed anew. Where some parameter gets its gradient by the older side
alone. And where the older side has no graph: it is a constant already.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.experiments.compare import comparable, starved
from autofix.verdict.law import PASSES, KeptByChange, at
from autofix.verdict.runs import Runs


class WhatIsComparedIsTheOlder(KeptByChange):
    name = "what-is-compared-is-the-older"
    clause = "what is held against newer values of the same is a constant in all passes"

    def changed(self, reading: Reading) -> Reading:
        return replace(reading, constant=True)

    def seen(self, runs: Runs) -> str:
        letter = runs.letter
        shared = set(letter.shared if runs.trace.remade else letter.older)
        if not letter.reused or not shared or letter.added or any(map(comparable, runs.comparisons_in_code)):
            return ""
        rest, moving = (run.compared for run in runs.comparisons_in_code)
        compared = [one for one in rest if one.older]
        alike = all(one.same >= PASSES and not one.other for one in compared)
        first = {one.stack for one in compared} <= {one.stack for one in moving if one.same}
        if not (alike and first and shared <= {age for one in compared for age in one.older}):
            return ""
        if comparable(runs.constant) or any(starved(letter, runs.constant)):
            return ""
        return (
            f"{at(compared[0].stack)} also differentiates the older of the values that it compares, by parameters "
            "that were stepped since; computed anew, both values would be the same in each pass"
        )
