"""Targets of losses that have a graph where a failure lies: are they trained, or constants?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.core.model import Effect
from autofix.experiments.compare import comparable
from autofix.experiments.readings import deprived
from autofix.verdict.effect import follows, trains_alike, whose

if TYPE_CHECKING:
    from autofix.core.model import Assessment, Reading
    from autofix.verdict.runs import Runs

FACT = "loss-trains-target"


def constant_targets(runs: Runs, reading: Reading) -> Reading | None:
    """A reading with these targets as constants, where it trains otherwise and takes all gradient from nothing."""
    places = tuple(fact.stack for fact in runs.trace.seen(FACT))
    if not places or reading.targets:
        return None
    cut = replace(reading, targets=places)
    if comparable(runs.of(cut)) or any(deprived(runs.of(cut), runs.of(reading))):
        return None
    return None if trains_alike(runs, cut, reading) else cut


def with_constants(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code with these targets as constants, where it changes that alone."""
    if found.effect is not Effect.CHANGED or (reading := constant_targets(runs, runs.code)) is None:
        return found
    if not follows(runs, reading):
        return found
    sentence = (
        f"{whose(runs)} those of the code in which a target is a constant; as it is written, that is trained, too"
    )
    return replace(found, reading=reading, sentence=sentence)
