"""What a backward call leaves to the next, with no step between them: does that train it, too, or is it done?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.verdict.effect import trains_alike
from autofix.verdict.runs import Runs


def ended_by_call(runs: Runs, reading: Reading) -> Reading | None:
    """A reading in which that is a constant to the next call; None where it is known not to be meant.

    It is where it trains the same, where something that an optimizer owns would never learn, and where the loss itself
    sums up what earlier passes made: then the sum is meant.
    """
    if not runs.letter.handed or not runs.trace.remade or runs.letter.seen("loss-grows"):
        return None
    ended = replace(reading, by_call=True)
    return None if runs.deprives(ended, reading) or trains_alike(runs, ended, reading) else ended
