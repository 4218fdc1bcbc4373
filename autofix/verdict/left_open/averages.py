"""Averages that a pass makes of what the passes before left and of its own: is it trained through its own part?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.experiments.compare import comparable
from autofix.verdict.effect import trains_alike
from autofix.verdict.runs import Runs


def constant_averages(runs: Runs) -> Reading | None:
    """The reading in which averages are constants, where it trains otherwise and starves nothing; else None."""
    if not runs.letter.averages:
        return None
    reading, cut = replace(runs.code, averages=True), replace(runs.code, truncated=True)
    unlike = comparable(runs.cut) or runs.starves(reading, cut)
    return None if unlike or trains_alike(runs, reading, cut) else reading
