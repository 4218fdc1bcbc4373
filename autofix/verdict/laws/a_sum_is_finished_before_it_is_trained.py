"""A sum is finished before it is trained on

## What it says

The code as written breaks it where a loss grows from one backward call to the next, `total += loss`, then
`total.backward()`, and neither a step nor `zero_grad` lies between these calls: the first of five terms is trained five
times. Each addend is to be trained once; whether by one backward call after the loop, or by one of its own within it,
makes no difference.

## Where it is silent

Where a step lies between, so that the author may have meant to train on each, or on the sum at the end; where the
gradients of earlier calls are gone, so that the last call alone counts; and where the terms have other weights each
time, as in a mean over those so far or a running average.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.experiments.compare import comparable
from autofix.experiments.spec import RunSpec
from autofix.verdict.law import KEPT, PASSES, SILENT, Law, Ruling, Word, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.core.model import Reading
    from autofix.verdict.runs import Runs

_GROWS = "loss-grows"


class ASumIsFinishedBeforeItIsTrained(Law):
    name = "a-sum-is-finished-before-it-is-trained"
    clause = "each term of a sum is trained once"

    def readings(self, runs: Runs) -> Iterator[Reading]:
        if _grows(runs):
            yield _once(runs)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        if not _grows(runs):
            return SILENT
        if reading.addends:
            return KEPT
        place = next(fact.stack for fact in runs.letter.facts if fact.name == _GROWS)
        return Ruling(Word.BROKEN, f"the loss of {at(place)} has the terms of the call before, which it trains again")


def _once(runs: Runs) -> Reading:
    return replace(runs.case.pool.letters.first, addends=True)


def _grows(runs: Runs) -> bool:
    if not any(fact.name == _GROWS for fact in runs.letter.facts):
        return False
    once = runs.case.pool.get(RunSpec.reference(_once(runs)))
    return not comparable(once) and once.summed >= PASSES
