"""Says of an edit that changes gradients which reading of what the code leaves open it is."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Assessment, Reading
from autofix.verdict.effect import follows
from autofix.verdict.runs import Runs
from autofix.verdict.wording import whose


def told_as(runs: Runs, found: Assessment, reading: Reading | None, said: str) -> Assessment:
    """What an edit does, and that it is the code in a reading, as `said`, where it changes that alone."""
    if reading is None or not follows(runs, reading):
        return found
    return replace(
        found,
        reading=reading,
        sentence=f"with the edit, {said}. Apart from that, {whose(runs)} those of the code",
    )
