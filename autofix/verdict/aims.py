"""Targets of losses, and weights of log-probabilities, in whose graph a failure lies, and the reading without it."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.experiments.compare import comparable
from autofix.experiments.readings import deprived
from autofix.probe import wire
from autofix.verdict.effect import trains_alike
from autofix.verdict.runs import Runs

TARGET, WEIGHT = "loss-trains-target", "weight-has-graph"


def seen(runs: Runs) -> list[wire.Fact]:
    """All that is seen of such values, targets first; of later failures, too, which an edit of the first may keep."""
    # A run that is watched for targets is dear: it is made where the letter holds two with a graph at all.
    letter = runs.letter
    again = runs.freed_by and len(letter.reaches) > 1
    may_be = (again or letter.seen("goes-into-off")) and letter.seen("holds-two")
    later = runs.sourced.seen(TARGET) if may_be else ()
    return list(dict.fromkeys((*runs.trace.seen(TARGET), *later, *runs.trace.seen(WEIGHT))))


def constants(runs: Runs, reading: Reading) -> Reading | None:
    """A reading with these as constants, where it trains otherwise and takes all gradient from nothing."""
    given = (wire.Given(fact.stack, fact.subject) for fact in seen(runs))
    cut = replace(reading, targets=tuple(dict.fromkeys((*reading.targets, *given))))
    if cut == reading:
        return None
    if reading.constant and trains_alike(runs, replace(runs.code, targets=cut.targets), reading):
        return None  # they are what passes share; run together, both change which operations there are
    if comparable(runs.of(cut)) or any(deprived(runs.of(cut), runs.of(reading))):
        return None
    return None if trains_alike(runs, cut, reading) else cut
