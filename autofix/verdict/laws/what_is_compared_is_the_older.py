"""What is compared is the older

## What it says

A program holds what it computes in each pass against what it computed in the same way before them: the weights that a
hypernetwork gave before a new task, parameters before an inner loop, a prediction before the epochs that change it.
Were that computed anew, too, both sides would be the same in every pass, whatever the parameters are: their difference
would be 0, their ratio 1, and nothing would be trained by it. So the older value is meant, in all passes.

The code as written breaks that where a graph is kept with the older value: its gradient would be that of parameters
which are no more, and take away what the newer side is sent. The reading that keeps the law has a constant there.

That both are computed in the same way is seen by a run in which parameters stay where they are: both sides are then
equal in all numbers but for rounding, in every pass, though each has a graph of its own. A pass in which the older
side has no graph, such as the first, which is given data, says nothing.

What only weighs that, and was made along with copies of parameters and of these alone, as the importance of each to a
task that is over, is as old as they are. It is seen in the same run: no gradient is sent to it as long as both sides
are equal.

## Where it is silent

Where both sides differ even then: other data, other layers, other draws. Where something else that passes share is
compared with nothing: it may be meant to be computed anew. Where some parameter gets its gradient by the older side
alone. And where the older side has no graph: it is a constant already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autofix.experiments.compare import comparable
from autofix.probe import wire
from autofix.verdict.law import KEPT, PASSES, SILENT, Law, Reading, Ruling, Runs, Word, at


class WhatIsComparedIsTheOlder(Law):
    clause = "the older value is a constant in all iterations"

    def readings(self, runs: Runs) -> Iterator[Reading]:
        """The code with the older values as constants."""
        if found := _constant(runs):
            yield found[0]

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        """A reading keeps it if it lets no gradient into them."""
        if (found := _constant(runs)) is None:
            return SILENT
        constant, place = found
        if reading.constant >= constant.constant and reading.truncated >= constant.truncated:
            return KEPT
        return Ruling(
            Word.BROKEN,
            f"{at(place)} compares a value with an older version of it, and gradients also flow into the older "
            "version, to parameters as they were before a step. Computed again, the two would always be equal",
        )


def _constant(runs: Runs) -> tuple[Reading, wire.Stack] | None:
    """The reading with the older values as constants, and where the first of them is compared."""
    letter = runs.letter
    shared, older = set(letter.shared if runs.trace.remade else letter.older), set(letter.older)
    if not letter.reused or not shared or letter.added or comparable(runs.comparisons_at_rest):
        return None
    # Of what is held against nothing but zeros, nobody knows whether it is the same.
    compared = [one for one in runs.comparisons_at_rest.compared if one.older and (one.same or one.other)]
    known = {age for one in compared for age in one.older}
    if not all(one.same >= PASSES and not one.apart for one in compared) or not shared <= known:
        return None
    # Where all that passes take of earlier ones is so compared, it may also be what the pass just before has made.
    reading = replace(runs.code, constant=shared == older or not older <= known)
    reading = reading if reading.constant else replace(reading, truncated=True)
    return None if runs.starves(reading) else (reading, compared[0].stack)
