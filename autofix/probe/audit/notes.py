"""The remarks of one audited run: each once, with the place that explains it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import wire

if TYPE_CHECKING:
    from ..program.frames import Frames, Raw


class Notes:
    """Collects facts by name and subject. What speaks, and how loudly, is for the host to say."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._found: dict[tuple[str, str], wire.Fact] = {}

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

    def keep(self, fact: wire.Fact) -> None:
        """Keep a fact that another instrument found."""
        self._found.setdefault((fact.name, fact.subject), fact)

    def has(self, *names: str) -> bool:
        """Whether a fact of one of these names was noted."""
        return any(name in names for name, _ in self._found)
