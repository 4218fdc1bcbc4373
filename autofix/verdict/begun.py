"""The reading in which each pass begins with a start that only the first one reads as the code is written."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.experiments.compare import comparable
from autofix.verdict.effect import trains_alike
from autofix.verdict.runs import Runs


def anew(runs: Runs) -> Reading | None:
    """The reading in which each pass begins with its start, where it can run and trains otherwise; else None."""
    if runs.case.pool.begun is None or not runs.letter.carried or runs.letter.reused:
        return None
    reading = replace(runs.code, begun=True)
    if comparable(runs.of(reading)) or trains_alike(runs, reading, replace(runs.code, truncated=True)):
        return None
    return reading
