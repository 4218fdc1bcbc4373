"""Targets of losses, and weights of log-probabilities, in whose graph a failure lies, and the reading without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from autofix.core.model import Reading
from autofix.probe import wire
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import KEPT, SILENT, Law, Ruling, Word, at
from autofix.verdict.runs import Runs

TARGET, WEIGHT = "loss-trains-target", "weight-has-graph"


def seen(runs: Runs) -> list[wire.Fact]:
    """All that is seen of such values, targets first; of later failures, too, which an edit of the first may keep."""
    # A run that is watched for targets is dear: it is made where the letter holds two with a graph at all.
    letter = runs.letter
    again = runs.freed_by and len(letter.reaches) > 1
    may_be = (again or letter.seen("goes-into-off")) and letter.seen("holds-two")
    later = runs.sourced.seen(TARGET) if may_be else ()
    return list(dict.fromkeys((*runs.trace.seen(TARGET), *later, *runs.trace.seen(WEIGHT))))


def constants(runs: Runs, reading: Reading) -> Reading | None:
    """A reading with these as constants, where it trains otherwise and takes all gradient from nothing."""
    given = (wire.Given(fact.stack, fact.subject) for fact in seen(runs))
    cut = replace(reading, targets=tuple(dict.fromkeys((*reading.targets, *given))))
    if cut == reading:
        return None
    if reading.constant and trains_alike(runs, replace(runs.code, targets=cut.targets), reading):
        return None  # they are what passes share; run together, both change which operations there are
    return None if runs.deprives(cut, reading) or trains_alike(runs, cut, reading) else cut


class KeptByTargets(Law):
    """A law that is kept where targets are constants, of each of which the program shows why."""

    fact: ClassVar[str]
    """What is seen of such a target in several passes."""
    sentence: ClassVar[str]
    """What breaks it in the code as written, as a clause with the `place` of the first of their losses."""

    def readings(self, runs: Runs) -> Iterator[Reading]:
        """The code with constants as such targets."""
        if (constant := self._constant(runs)) is not None:
            yield constant

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        """A reading keeps it if it has these constants."""
        if (constant := self._constant(runs)) is None:
            return SILENT
        if set(constant.targets) <= set(reading.targets):
            return KEPT
        return Ruling(Word.BROKEN, self.sentence.format(place=at(constant.targets[0].stack)))

    def _constant(self, runs: Runs) -> Reading | None:
        """The code with constants as targets, where each that the failure is about is of this kind."""
        found = seen(runs)
        if not found or any(fact.name != TARGET for fact in found):
            return None
        shown = {(fact.stack, fact.subject) for fact in runs.sourced.seen(self.fact)}
        return constants(runs, runs.code) if shown.issuperset((one.stack, one.subject) for one in found) else None
