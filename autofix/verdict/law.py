"""What the author of a law sees: `Law`, and what it says of one reading of the code; and how laws are found."""

from __future__ import annotations

import enum
import functools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from autofix.core.kinds import kinds, name_of
from autofix.core.model import Reading
from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.probe import wire
from autofix.verdict.blame import at
from autofix.verdict.runs import Runs

__all__ = [
    "KEPT", "PASSES", "SILENT", "KeptByChange", "KeptByGraphs", "Law", "Reading", "Ruling", "Runs", "Word",
    "apart", "at", "broken", "is_broken", "laws", "required", "worse",
]  # fmt: skip

PASSES = 2
"""In how many passes a reading must be seen to break a law, at least."""


class Word(enum.Enum):
    """What a law says of a reading. SILENT is not KEPT: it speaks for nothing."""

    BROKEN = enum.auto()
    KEPT = enum.auto()
    SILENT = enum.auto()


@dataclass(frozen=True, slots=True)
class Ruling:
    """One word on one reading; where the law is broken, `sentence` says what was seen."""

    word: Word
    sentence: str = ""


SILENT, KEPT = Ruling(Word.SILENT), Ruling(Word.KEPT)


class Law(ABC):
    """One thing that every program means, as far as runs can witness it. Stateless: it reads the runs of a case.

    **When in doubt, it is silent**: what it says can make an edit safe that departs from the code as written.
    """

    clause: ClassVar[str]
    """What holds in a reading that keeps it, as a clause."""

    @property
    def name(self) -> str:
        """That of its file."""
        return name_of(self)

    def readings(self, _runs: Runs) -> Iterator[Reading]:
        """The readings that keep this law where the code as written breaks it, beside those compared anyway."""
        yield from ()

    @abstractmethod
    def says(self, runs: Runs, reading: Reading) -> Ruling:
        """Whether a reading breaks this law, keeps it, or whether nothing can be said."""

    def spares(self, _reading: Reading) -> bool:
        """Whether this law cannot break a reading, whatever runs show: then none need be made to ask it."""
        return False

    def readings_beside(self, runs: Runs, _known: Collection[Reading]) -> Iterator[Reading]:
        """Its readings, where they are not certain to be among those that are known already."""
        return self.readings(runs)


class KeptByChange(Law):
    """A law that one `change` of a reading keeps, whatever else is in it: a field of `Reading` that is then true."""

    change: ClassVar[str]

    def changed(self, reading: Reading) -> Reading:
        """The reading with the change."""
        return replace(reading, **{self.change: True})  # type: ignore[arg-type]  # one that is true or false

    @abstractmethod
    def seen(self, runs: Runs) -> str:
        """What breaks the law in the code as written, as a clause; '' where nothing does, or nobody can tell."""

    def readings(self, runs: Runs) -> Iterator[Reading]:
        """The code as written, with the change."""
        if self.seen(runs):
            yield self.changed(runs.code)

    def spares(self, reading: Reading) -> bool:
        """A reading that has the change keeps it."""
        return self.changed(reading) == reading

    def readings_beside(self, runs: Runs, known: Collection[Reading]) -> Iterator[Reading]:
        """No run is made to see whether the code is to be read with the change, where it is read so anyway."""
        return iter(()) if self.changed(runs.code) in known else self.readings(runs)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        """A reading keeps it if it has the change."""
        if not (sentence := self.seen(runs)):
            return SILENT
        return KEPT if self.changed(reading) == reading else Ruling(Word.BROKEN, sentence)


class KeptByGraphs(Law):
    """A law that is kept where derivatives, which are numbers as the code is written, have a graph."""

    sentence: ClassVar[str]
    """What breaks it in the code as written, as a clause with the `place` of the first of them."""

    @abstractmethod
    def numbers(self, runs: Runs) -> tuple[wire.Stack, ...]:
        """Where these derivatives are taken; () where there is none, or nobody can tell."""

    def readings(self, runs: Runs) -> Iterator[Reading]:
        """The code as written, with a graph for each of them."""
        if places := self.numbers(runs):
            yield replace(runs.code, through=places)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        """A reading keeps it if all of them have one."""
        if not (places := self.numbers(runs)):
            return SILENT
        if set(places) <= set(reading.through):
            return KEPT
        return Ruling(Word.BROKEN, self.sentence.format(place=at(places[0])))


def apart(one: wire.Trace, other: wire.Trace | None) -> int:
    """In how many passes two runs have other gradients; 0 where they train the same, or cannot be compared."""
    if other is None or comparable(one) or comparable(other) or not differences(one, other, LIVE):
        return 0
    pairs = list(zip(one.steps or one.leaves, other.steps or other.leaves, strict=False))
    return sum(a.optimizer == b.optimizer and a.gradients != b.gradients for a, b in pairs) or 1


def broken(runs: Runs, reading: Reading) -> str:
    """What was seen of a reading that breaks some law; '' where none says so."""
    rulings = (law.says(runs, reading) for law in laws() if not law.spares(reading))
    return next((ruling.sentence for ruling in rulings if ruling.word is Word.BROKEN), "")


def is_broken(runs: Runs, reading: Reading, *, at_hand: bool = False) -> bool:
    """Whether a reading breaks some law; `at_hand`: whether the runs that have ended say so, which are asked first."""
    rulings = (runs.case.pool.at_hand(functools.partial(law.says, runs, reading)) for law in laws())
    known = any(ruling is not None and ruling.word is Word.BROKEN for ruling in rulings)
    return known or (not at_hand and bool(broken(runs, reading)))


def worse(runs: Runs, reading: Reading) -> str:
    """What was seen of a reading that breaks some law which the code as written does not; '' where none says so."""
    rulings = (law.says(runs, reading) for law in laws() if law.says(runs, runs.code).word is not Word.BROKEN)
    return next((ruling.sentence for ruling in rulings if ruling.word is Word.BROKEN), "")


def required(runs: Runs, reading: Reading) -> bool:
    """Whether some law breaks the code as written and is kept by a reading."""
    return any(law.says(runs, reading).word is Word.KEPT for law in laws())


@functools.cache
def laws() -> tuple[Law, ...]:
    """All laws, by name: every module of `autofix.verdict.laws` defines one."""
    found = kinds("autofix.verdict.laws", Law)  # type: ignore[type-abstract]  # only subclasses are made
    return tuple(sorted(found, key=lambda one: one.name))
