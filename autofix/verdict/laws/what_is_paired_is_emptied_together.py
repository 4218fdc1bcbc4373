"""What is paired is emptied together

## What it says

Passes fill several lists in step, as log-probabilities and rewards, and a loss pairs them item by item (`zip`). Such
lists are emptied together. The code as written breaks the law where each pass empties one of them, and the program
empties another nowhere: the next pass pairs what an earlier one collected with what is new, and its loss leads to that
earlier one. The reading that keeps the law empties all of them where the one is emptied. It is seen by a run of that
reading, in which all that is paired must be equally long in each pass, and in which no pass leads to an earlier one.

## Where it is silent

Where none or all of the lists are emptied; where the one is emptied in some passes alone, as in each tenth; where the
others are sampled, sliced or read for anything but the pairs; where they are then longer or shorter than what they are
paired with; and where something that an optimizer owns would have no gradient.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable, differences
from autofix.experiments.readings.learning import deprived
from autofix.experiments.sketches import LIVE
from autofix.verdict.law import PASSES, KeptByChange, Runs


class WhatIsPairedIsEmptiedTogether(KeptByChange):
    clause = "the lists are emptied together"
    change = "emptied"

    def seen(self, runs: Runs) -> str:
        found, letter = runs.case.pool.emptied, runs.letter
        if found is None or not letter.carried or comparable(letter):
            return ""
        other = runs.of(self.changed(runs.code))
        if comparable(other) or other.carried or len(other.steps or other.leaves) < PASSES:
            return ""
        if any(deprived(other, letter)) or not differences(letter, other, LIVE):
            return ""
        records = " and ".join(found.records)
        return (
            f"the loss pairs {found.twin} with {records}. Each iteration empties {found.twin}, but {records} still "
            "has entries of earlier iterations"
        )
