"""Everything owned learns

## What it says

What several passes share was made once, before them. Cut after the first of them, it breaks the law where the later
ones then leave a parameter without any gradient that an optimizer owns and that gets one otherwise, or where their
losses would have no graph at all. What was made once is then to be computed anew.

## Where it is silent

Where data went into it: features that were computed once may be meant as they are, for a probe on a network that is not
to be tuned. It speaks of these, too, where the losses have nothing else, or where an optimizer that steps in each pass
would have no gradient for anything that it owns, ever: nobody makes steps with what is to stay as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.experiments.compare import comparable, norm, starved
from autofix.verdict.law import SILENT, Law, Ruling, Word

if TYPE_CHECKING:
    from autofix.core.model import Reading
    from autofix.probe import wire
    from autofix.verdict.runs import Runs

_LEAST = 3
"""Steps without any gradient from which on they are no accident of where a run begins."""


class EverythingOwnedLearns(Law):
    name = "everything-owned-learns"
    clause = "every parameter that an optimizer owns learns"

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        if not ((reading.truncated or reading.constant) and runs.letter.reused):
            return SILENT
        if runs.letter.alone:
            return Ruling(Word.BROKEN, "later passes would have nothing to train")
        if comparable(runs.cut) or (lost := next(starved(runs.letter, runs.cut), "")) == "":
            return SILENT
        if runs.sourced.fed and not _steps_in_vain(runs):
            return SILENT
        return Ruling(Word.BROKEN, f"{lost} would get no gradient in later passes")


def _steps_in_vain(runs: Runs) -> bool:
    """Whether some optimizer would never have any gradient that has one at each of its steps now."""
    if comparable(runs.constant):
        return False
    optimizers = range(len(runs.letter.counts))
    pairs = ((_trained(runs.letter, index), _trained(runs.constant, index)) for index in optimizers)
    return any(len(now) >= _LEAST and all(now) and not any(then) for now, then in pairs)


def _trained(run: wire.Trace, index: int) -> list[bool]:
    """Of each step of an optimizer, whether it used any gradient."""
    return [any(map(norm, step.gradients)) for step in run.steps if step.optimizer == index and step.asks]
