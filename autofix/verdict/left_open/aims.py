"""Targets of losses, and weights of log-probabilities, in whose graph a failure lies: trained, or constants?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Assessment, Effect, Reading
from autofix.experiments.compare import comparable
from autofix.experiments.readings import deprived
from autofix.probe import wire
from autofix.verdict.effect import trains_alike
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs

TARGET, WEIGHT = "loss-trains-target", "weight-has-graph"


def seen(runs: Runs) -> list[wire.Fact]:
    """All that is seen of such values, targets first; of later failures, too, which an edit of the first may keep."""
    # A run that is watched for targets is dear: it is made where the letter holds two with a graph at all.
    may_be = runs.freed_by and len(runs.letter.reaches) > 1 and runs.letter.seen("holds-two")
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


def trained(runs: Runs, found: Assessment, name: str) -> wire.Fact | None:
    """The first of such values, if it is one of this name, and an edit of this effect goes on training it."""
    if not found.effect.keeps_gradients:
        return None
    first = next(iter(seen(runs)), None)
    if first is None or first.name != name:
        return None
    return first if constants(runs, found.reading or runs.code) is not None else None


def with_constants(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code with such values as constants, where it changes that alone."""
    if found.effect is not Effect.CHANGED or (reading := constants(runs, runs.code)) is None:
        return found
    what = "a target" if seen(runs)[0].name == TARGET else "what weighs a log-probability"
    return told_as(runs, found, reading, f"{what} is a constant; as it is written, that is trained, too")
