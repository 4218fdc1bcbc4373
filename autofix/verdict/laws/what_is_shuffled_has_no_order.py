"""What is shuffled has no order

## What it says

Batches come in random order, so what a state says of one says nothing of the next. The code as written breaks the law
where a state goes on from batch to batch, and the program itself shows the start that each is to begin with, in one of
two ways:

- The state has a row for each example, and other code that calls the same module, an evaluation say, first gives it
  that start.
- The start is learned: each pass is handed a parameter to begin with, and only the first one uses it. Cut between the
  passes, that would be trained by the first one alone.

The reading that keeps the law begins each pass with that start.

## Where it is silent

Where batches come in their order, as the windows of one sequence do, or where the program shows no start: an average
goes on from batch to batch whatever these are, and so does a chain of samples. A method that resets the state, and that
nothing calls, says too little. Where the code itself begins the state anew now and then, it is carried on purpose.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.experiments.compare import comparable
from autofix.syntax.edits.passes.shuffled import is_of_rows, shuffled
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import KeptByChange, Runs, at


def anew(runs: Runs) -> Reading | None:
    """The reading in which each pass begins with its start, where it can run and trains otherwise; else None."""
    if runs.case.pool.begun is None or not runs.letter.carried or runs.letter.reused:
        return None
    reading = replace(runs.code, begun=True)
    if comparable(runs.of(reading)) or trains_alike(runs, reading, replace(runs.code, truncated=True)):
        return None
    return reading


class WhatIsShuffledHasNoOrder(KeptByChange):
    clause = "each iteration begins with its initial state"
    change = "begun"

    def seen(self, runs: Runs) -> str:
        begun, crossings = runs.case.pool.begun, runs.trace.crossings
        if begun is None or begun.about not in _SHOWS:
            return ""
        place = shuffled(runs.sources, runs.failure.stack, crossings)
        if not place or anew(runs) is None or not _SHOWS[begun.about](runs):
            return ""
        return (
            f"`{begun.path}` goes on from batch to batch, though {at(place)} takes these in random order, and the "
            f"program has `{begun.start}` for each to begin with"
        )


def _has_rows(runs: Runs) -> bool:
    """Whether a state that the failing pass took from an earlier one has a row for each example."""
    taken = (one for one in runs.trace.crossings if one.by != "earlier")
    return any(is_of_rows(runs.sources, carrier) for one in taken for carrier in one.carriers)


def _is_learned(runs: Runs) -> bool:
    """Whether what each pass could begin with would learn in the first one alone, were the graph cut between them."""
    return runs.deprives(replace(runs.code, truncated=True)) and not runs.deprives(replace(runs.code, begun=True))


_SHOWS = {"state-begins-anew-elsewhere": _has_rows, "start-is-read-once": _is_learned}
"""By the property that says how the code shows a start: whether that is one for each batch."""
