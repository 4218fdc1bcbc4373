"""A second name is a copy

## What it says

A function gives a tensor a second name (`masked = scores`), one of both is written in part (`masked[:, :2] = 0`, or by
a function that it is handed to), and both are read behind that, the older as what it was. Neither name ever stands for
anything else, so as the code is written one of them is of no use. The code as written breaks the law if it trains
otherwise for it. The reading that keeps it writes to a copy.

## Where it is silent

Where what is written is computed in the pass: a target that is filled into what was predicted is mostly a constant, not
a copy with its graph. Where a name is given another value later (`residual = x`, then `x = conv(x)`), for then both are
of use. Where the older name is what a caller or an object has, and the newer one is to keep it: the write may be meant
for those, too. Where a function is handed the name, and that name is read behind the call as well. Whole tensors are
the matter of *a name keeps its value*.
"""

from __future__ import annotations

from autofix.syntax.edits import is_taken_for_copy
from autofix.verdict.law import PASSES, KeptByChange, Runs, apart, at
from autofix.verdict.shared import other_names


class ASecondNameIsACopy(KeptByChange):
    clause = "what was named before the write keeps its value"
    change = "copied"

    def seen(self, runs: Runs) -> str:
        spoiled = other_names.spoiled(runs)
        if not (spoiled and runs.case.pool.written["copied"] and other_names.is_met(runs)):
            return ""
        if not all(is_taken_for_copy(runs.sources, stack) for stack in spoiled):
            return ""
        if (reading := other_names.kept(runs)) is None or apart(runs.letter, runs.of(reading)) < PASSES:
            return ""
        name, place = other_names.seen(runs)
        alias = other_names.other(runs, name, place)
        return f"{at(place)} writes to {alias}, and `{name}`, which is read after the write, is the same tensor"
