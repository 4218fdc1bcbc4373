"""Targets of losses, and weights of log-probabilities, in whose graph a failure lies: trained, or constants?"""

from __future__ import annotations

from autofix.core.model import Assessment, Effect, Reading
from autofix.probe import wire
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs
from autofix.verdict.shared.aims import TARGET, constants, seen


def trained(runs: Runs, reading: Reading, name: str) -> wire.Fact | None:
    """The first of such values, if it is one of this name, and a reading trains it."""
    first = next(iter(seen(runs)), None)
    if first is None or first.name != name:
        return None
    return first if constants(runs, reading) is not None else None


def with_constants(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code with such values as constants, where it changes that alone."""
    if found.effect is not Effect.CHANGED or (reading := constants(runs, runs.code)) is None:
        return found
    what = "a target" if seen(runs)[0].name == TARGET else "the weight of a term of the loss"
    return told_as(runs, found, reading, f"{what} is a constant; as written, the loss trains it, too")
