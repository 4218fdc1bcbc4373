"""Whether what passes take of earlier ones is replaced by what later passes make for themselves."""

from __future__ import annotations

from collections import Counter

from ..engine import graph
from ..engine.names import Names
from ..program.frames import Raw


class Lent:
    """Watches who holds what passes took of earlier ones, when a later pass takes nothing.

    A centre of a class of which a batch has none is replaced by the next batch that has one. A cache holds what it has.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._ages: set[int] = set()
        self._taken, self._own = Counter[Raw](), Counter[Raw]()
        """By site, how many passes took something of an earlier one; and nothing, behind these, once that was gone."""
        self._unheld = False
        """Whether something was taken that is held where nobody looks."""

    def take(self, site: Raw, ages: set[int]) -> None:
        """A pass of a site takes results with these ages of earlier ones."""
        self._taken[site] += 1
        self._ages |= ages
        self._unheld = self._unheld or not ages <= self._held()

    def take_nothing(self, site: Raw) -> None:
        """A pass of a site uses its own alone; of one that never took anything, that says nothing."""
        if site in self._taken:
            self._own[site] += self._ages.isdisjoint(self._held())

    @property
    def is_replaced(self) -> bool:
        """Whether, at each site, more passes replaced what others took of earlier ones than took any."""
        more = (taken < self._own[site] for site, taken in self._taken.items())
        return not self._unheld and bool(self._taken) and all(more)

    def _held(self) -> set[int]:
        """The ages of the results that the script's variables hold."""
        return graph.ages(self._names.results())
