"""The remarks of one audited run: each once, with the place that explains it first."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .. import wire
from ..program.frames import Frames, Raw

OFTEN = 3
"""Times that something has to go wrong before it is no accident of the first pass."""


class Notes:
    """Collects facts by name and subject. What speaks, and how loudly, is for the host to say."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._found: dict[tuple[str, str], wire.Fact] = {}
        self._times: Counter[tuple[str, Any]] = Counter()
        self._values: dict[Raw, tuple[float, float | None]] = {}

    @property
    def facts(self) -> tuple[wire.Fact, ...]:
        """Everything noted so far, in the order in which it was seen."""
        return tuple(self._found.values())

    def note(self, name: str, subject: str, *places: Raw) -> None:
        """Keep a fact; `places`: first the line that explains it, then others that belong to it."""
        first, *others = [place for place in dict.fromkeys(places) if place] or [()]
        if (name, subject) not in self._found:
            stacks = tuple(self._frames.resolve(place) for place in others)
            self._found[name, subject] = wire.Fact(name, subject, self._frames.resolve(first), stacks)

    def often(self, what: Any, name: str, subject: str, *places: Raw) -> None:
        """Keep a fact when it has been so often enough, of `what`: a place, an optimizer."""
        self._times[name, what] += 1
        if self._times[name, what] == OFTEN:
            self.note(name, subject, *places)

    def keep(self, fact: wire.Fact) -> None:
        """Keep a fact that another instrument found."""
        self._found.setdefault((fact.name, fact.subject), fact)

    def value(self, place: Raw, value: float, should: float | None = None) -> None:
        """Keep the size of what a place made first, and the size that it has where the law holds which it breaks."""
        self._values.setdefault(place, (value, should))

    @property
    def values(self) -> tuple[wire.Value, ...]:
        """The first values that were kept."""
        return tuple(wire.Value(self._frames.resolve(place), *kept) for place, kept in self._values.items())

    def has(self, *names: str) -> bool:
        """Whether a fact of one of these names was noted."""
        return any(name in names for name, _ in self._found)
