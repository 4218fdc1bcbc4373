"""Every term counts

## What it says

An addend of a loss that was made once, of owned parameters alone, would train in the first pass that uses it and in
none of the later ones, if it were cut: a penalty over all weights that is built before the loop. It is to be computed
anew.

## Where it is silent

Where data went into it, or parameters that no optimizer owns; where it is no addend, but a factor or an input; and of a
graph that each pass makes from that of the one before, as a running average of the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.verdict.law import SILENT, Law, Ruling, Word

if TYPE_CHECKING:
    from autofix.core.model import Reading
    from autofix.verdict.runs import Runs


class EveryTermCounts(Law):
    name = "every-term-counts"
    clause = "every term of a loss trains in each pass"

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        if not (reading.truncated and runs.letter.reused and runs.letter.added) or runs.sourced.fed:
            return SILENT
        return Ruling(Word.BROKEN, "a term of the loss would train in the first pass alone")
