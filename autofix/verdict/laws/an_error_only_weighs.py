"""An error only weighs

## What it says

A loss is to make a difference small (a return less the value that was expected), and another loss weighs
log-probabilities by the same difference: by an advantage, by the error of a prediction. So may two terms of one loss.
The second is linear in the difference, so it has no minimum there, and could only push the difference away from where
the first one draws it to. The code as written breaks the law where it does, by a graph that the loss of the failure
uses, too. The reading that keeps the law has a constant as the weight.

It is seen in the graphs of the losses, in several passes: a term is linear in the weight, the weight is a difference or
a sum of such, and a loss sums up sizes of that difference, or of its value held against something else without a graph.
The value may be computed anew for that, of other data and by newer parameters: the same operations give it.

## Where it is silent

Where what weighs is no such difference: a gate, the probabilities of a teacher or of another view. Where the weight is
bent on its way to the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autofix.probe import wire
from autofix.verdict.law import KEPT, SILENT, Law, Reading, Ruling, Runs, Word, at


class AnErrorOnlyWeighs(Law):
    clause = "this error is a constant weight there, and only what is to make it small trains it"

    def readings(self, runs: Runs) -> Iterator[Reading]:
        """The code with constants as weights."""
        if _weighed(runs):
            yield replace(runs.code, targets=runs.weights)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        """A reading keeps it if it has these constants, or if that loss trains nothing of another optimizer."""
        if not (loss := _weighed(runs)):
            return SILENT
        if set(runs.weights) <= set(reading.targets) or loss in {one.stack for one in reading.apart}:
            return KEPT
        return Ruling(
            Word.BROKEN,
            f"the loss at {at(loss)} weighs its terms by an error, as by an advantage, and also trains this error. "
            "Another loss, or another term of it, is there to make the error small",
        )


def _weighed(runs: Runs) -> wire.Stack:
    """The loss that weighs by what another one is to make small, where the failure is between the two."""
    if not runs.freed_by or not runs.weights:
        return ()
    failed = {runs.failure.stack, *runs.freed_by}
    found = [fact.stack for fact in runs.sourced.seen("weight-is-residual") if fact.stack in failed]
    if len(found) != 1 or runs.deprives(replace(runs.code, targets=runs.weights)):
        return ()
    return found[0]
