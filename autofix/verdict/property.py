"""What the author of a property sees: `Property`, `Example`, the words that all use; and how properties are found."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from autofix.core.kinds import in_full, kinds, name_of
from autofix.core.model import Effect, Finding, Reading, Treatment
from autofix.probe import wire
from autofix.verdict.evidence import Evidence

__all__ = [
    "Effect", "Evidence", "Example", "Finding", "OfACut", "OfTheCode", "Property", "Reading", "Seen", "Treatment",
    "course_name", "properties",
]  # fmt: skip

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
"""
"""Stands before the text of each example."""


@dataclass(frozen=True, slots=True)
class Example:
    """A script that fails in autograd, and an edit of it: in its text, `old` becomes `new` wherever it stands.

    A line `train: loss` stands for a whole update by `optimizer`, see `in_full`.
    """

    text: str
    old: str
    new: str

    @property
    def script(self) -> str:
        """The script that fails."""
        return HEAD + in_full(self.text, "optimizer")

    @property
    def edited(self) -> str:
        """The script with the edit."""
        text, old, new = (in_full(one, "optimizer") for one in (self.text, self.old, self.new))
        return HEAD + text.replace(old, new)


class Property(ABC):
    """One thing that makes an edit unsafe although it runs. Stateless: `find` reads the evidence on an edit.

    `raises` and `silent` are examples of edits that have the property, and of as many that are easily mistaken and have
    it not. `last`: it is asked only of the edit that would be written, once nothing else speaks against it, because its
    run is dear.
    """

    sentence: ClassVar[str]
    last: ClassVar[bool] = False
    anyway: ClassVar[bool] = False
    """Whether it is asked also of an edit that does not keep the gradients, and is unsafe for that."""
    offered: ClassVar[bool] = False
    """Whether it is asked only of an edit that somebody else made."""
    change: ClassVar[str] = ""
    """A field of `Reading`, true in readings that have no such thing: of an edit that equals one it is not asked."""
    raises: ClassVar[tuple[Example, ...]] = ()
    silent: ClassVar[tuple[Example, ...]] = ()

    @property
    def name(self) -> str:
        """That of its file."""
        return name_of(self)

    def judge(self, evidence: Evidence) -> Finding | None:
        """The finding on an edit whose own run got past the failure, or None."""
        kept = self.anyway or evidence.assessment.effect.keeps_gradients
        settled = bool(self.change and getattr(evidence.reading, self.change))
        asked = kept and not settled and (evidence.case.offered or not self.offered)
        return self.find(evidence) if asked else None

    @abstractmethod
    def find(self, evidence: Evidence) -> Finding | None:
        """The finding on such an edit, where the property is asked."""

    def found(self, place: wire.Stack = (), **words: str) -> Finding:
        """A finding, its sentence completed by `words`."""
        return Finding(self.name, self.sentence.format(**words), place)


class Seen(Property):
    """A property that the probe sees as a fact of the name `fact`, in one of `runs`: attributes of the evidence."""

    fact: ClassVar[str]
    runs: ClassVar[tuple[str, ...]] = ("edited",)

    def find(self, evidence: Evidence) -> Finding | None:
        """The first of these facts in its runs."""
        return self.first(*(getattr(evidence, name) for name in self.runs))

    def first(self, *traces: wire.Trace) -> Finding | None:
        """The finding on the first of these facts in any of the runs."""
        facts = (fact for trace in traces for fact in trace.seen(self.fact))
        return next((self.found(fact.stack, subject=fact.subject) for fact in facts), None)


class OfTheCode(Seen):
    """A property that the code has, and that an edit keeps: it is seen in the reference of the reading it equals."""

    runs: ClassVar[tuple[str, ...]] = ("followed",)


class OfACut(Property):
    """A property of an edit that equals a reading in which the graph is cut between passes, whatever else it does."""

    anyway: ClassVar[bool] = True

    def judge(self, evidence: Evidence) -> Finding | None:
        """The finding on an edit that makes this cut."""
        return super().judge(evidence) if evidence.reading.truncated else None


def course_name(run: wire.Trace, name: str) -> str:
    """What is shown for a course: of an owned parameter, its place in an optimizer is its name."""
    index, _, place = name.partition(" ")
    return run.names[int(index)][int(place)] if place and index.isdecimal() else name


@functools.cache
def properties() -> tuple[Property, ...]:
    """All properties, by name: every module of `autofix.verdict.properties` defines one."""
    found = kinds("autofix.verdict.properties", Property)  # type: ignore[type-abstract]  # only subclasses are made
    return tuple(sorted(found, key=lambda one: one.name))
