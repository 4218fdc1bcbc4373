"""A sum is finished before it is trained on

## What it says

The code as written breaks it where a loss grows from one backward call to the next, `total += loss`, then
`total.backward()`, and neither a step nor `zero_grad` lies between these calls: the first of five terms is trained five
times. So it is where a part of the loss grows: each micro-batch adds its balance term to a list that is emptied at the
step alone. Each addend is to be trained once; whether by one backward call after the loop, or by one of its own within
it, makes no difference.

## Where it is silent

Where a step lies between, so that the author may have meant to train on each, or on the sum at the end; where the
gradients of earlier calls are gone, so that the last call alone counts; where a term was made once for all calls, which
have no new one beside it; and where the terms have other weights each time, as in a mean over those so far or a running
average.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.verdict.law import PASSES, KeptByChange, Runs, at


class ASumIsFinishedBeforeItIsTrained(KeptByChange):
    clause = "each term of the sum is trained once"
    change = "addends"

    def seen(self, runs: Runs) -> str:
        grows = runs.letter.seen("loss-grows")
        if not grows or comparable(once := runs.of(self.changed(runs.code))) or once.summed < PASSES:
            return ""
        return (
            f"the loss at {at(grows[0].stack)} still contains the terms of the backward before, and trains them again"
        )
