"""What is acted on is data

## What it says

A program draws a sample by the mean and the spread that a network gives (`action = mean + std * noise`), hands it to
what is no part of torch, as an environment is, and weighs the log-probability of the sample by what came of it. To that
loss the sample is data. The code as written breaks the law where the sample keeps its graph: the log-probability of
`mean + std * noise` depends on the noise and on `std`, and not on the mean. What the mean is sent by the one use takes
away what it is sent by the other, in every pass, and the network never learns what to do. The reading that keeps the
law has a constant there, from where the sample is drawn.

It is seen in the gradients that come back: they are zero for a parameter in every step, or cancel out at a value that
the sample is made of, and not where the sample is a constant; and a run of that in which the array is a little larger
has other gradients.

## Where it is silent

Where a value has a gradient by the path of the sample as well, as in an actor's loss that a critic judges, or in a
likelihood: nothing cancels there. Where no gradient depends on the array, as of an entropy that is estimated by
samples. Where something that an optimizer owns would learn no more if the sample were a constant. And where no draw is
written where the sample is made.
"""

from __future__ import annotations

from autofix.core.model import Reading
from autofix.experiments.compare import comparable, differences, same_gradients
from autofix.experiments.readings import deprived
from autofix.experiments.sketches import LIVE
from autofix.experiments.spec import Intervention
from autofix.verdict.law import KeptByChange, at
from autofix.verdict.runs import Runs

_CANCELS = "moved-gradient-cancels"


class WhatIsActedOnIsData(KeptByChange):
    name = "what-is-acted-on-is-data"
    clause = "the sample is a constant to the loss that weighs its log-probability"
    change = "sampled"

    def seen(self, runs: Runs) -> str:
        if not runs.case.pool.written["sampled"] or comparable(runs.letter):
            return ""
        data = self.changed(runs.code)
        if runs.deprives(data) or not differences(runs.letter, runs.of(data), LIVE):
            return ""
        if weighs_nothing(runs, data):
            return ""
        if not (any(deprived(runs.letter, runs.of(data))) or _cancels(runs, data)):
            return ""
        return (
            f"{at(runs.failure.stack)} hands on a sample, and the loss takes its log-probability with the graph of the "
            "sample: the gradients of what the sample is made of cancel out, so that it never learns"
        )


def weighs_nothing(runs: Runs, data: Reading) -> bool:
    """Whether no gradient depends on what comes of the sample, where it is a constant; or nobody can tell."""
    moved = runs.sample_moved
    return moved is None or bool(comparable(moved)) or same_gradients(runs.of(data), moved)


def _cancels(runs: Runs, data: Reading) -> bool:
    """Whether gradients cancel out at a value that the sample is made of, and not where the sample is a constant."""
    seen = runs.comparisons_moving.seen(_CANCELS)
    return bool(seen) and not runs.of(data, intervention=Intervention.COMPARED).seen(_CANCELS)
