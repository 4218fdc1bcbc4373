"""Everything owned learns

## What it says

What several passes share was made once, before them. Cut after the first of them, it breaks the law where the later
ones then leave a parameter without any gradient that an optimizer owns and that gets one otherwise, or where their
losses would have no graph at all. What was made once is then to be computed anew.

## Where it is silent

Where data went into it, unless the losses have nothing else: features that were computed once may be meant as they are,
for a probe on a network that is not to be tuned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.experiments.compare import comparable, starved
from autofix.verdict.law import SILENT, Law, Ruling, Word

if TYPE_CHECKING:
    from autofix.core.model import Reading
    from autofix.verdict.runs import Runs


class EverythingOwnedLearns(Law):
    name = "everything-owned-learns"
    clause = "every parameter that an optimizer owns learns"

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        if not (reading.truncated and runs.letter.reused):
            return SILENT
        if runs.letter.alone:
            return Ruling(Word.BROKEN, "later passes would have nothing to train")
        if comparable(runs.cut) or (lost := next(starved(runs.letter, runs.cut), "")) == "" or runs.sourced.fed:
            return SILENT
        return Ruling(Word.BROKEN, f"{lost} would get no gradient in later passes")
