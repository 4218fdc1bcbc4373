"""What is put by keeps its value

## What it says

The code as written breaks it where a function gives a tensor a second name by a plain assignment (`kept = x`), writes
a part of it by one of both names (`x[:, 0] = …`) and reads both names behind that, and the program trains otherwise
for it. Who wants one tensor needs no second name. The reading that keeps the law writes to a copy.

## Where it is silent

A name for a part (`first = x[0]`), an attribute (`h = self.state`), an argument and what is written in a loop of its
own, behind which a name stands for the result, are written on purpose as often as not. So it is where nothing reads one
of both names behind the write, and where another write beside it is in doubt.
"""

from __future__ import annotations

from autofix.syntax.edits import put_by
from autofix.verdict.law import PASSES, KeptByChange, Runs, apart, at
from autofix.verdict.shared.other_names import kept, spoiled


class WhatIsPutByKeepsItsValue(KeptByChange):
    clause = "a variable that was put by under another name keeps its value there"
    change = "copied"

    def seen(self, runs: Runs) -> str:
        places = spoiled(runs)
        names = [put_by(runs.sources, stack) for stack in places]
        if runs.case.pool.leaf_written or not places or not all(names):
            return ""
        reading = kept(runs)
        if reading is None or apart(runs.letter, runs.of(reading)) < PASSES:
            return ""
        return (
            f"{at(places[0])} writes a part of a tensor that also has the name `{names[0]}`, which is read after the "
            "write. The new values in it change the training"
        )
