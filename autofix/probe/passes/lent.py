"""Whether what passes take of earlier ones is replaced by what later passes make for themselves."""

from __future__ import annotations

from ..engine import graph
from ..engine.names import Names


class Lent:
    """Watches who holds what passes took of earlier ones, when a later pass takes nothing.

    A centre of a class of which a batch has none is replaced by the next batch that has one. A cache holds what it has.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._ages: set[int] = set()
        self._taken = self._own = 0
        """How many passes took something of an earlier one, and how many nothing, behind these, when it was gone."""
        self._unheld = False
        """Whether something was taken that is held where nobody looks."""

    def take(self, ages: set[int]) -> None:
        """A pass takes results with these ages of earlier ones."""
        self._taken += 1
        self._ages |= ages
        self._unheld = self._unheld or not ages <= self._held()

    def take_nothing(self) -> None:
        """A pass uses its own alone."""
        self._own += self._taken > 0 and self._ages.isdisjoint(self._held())

    @property
    def is_replaced(self) -> bool:
        """Whether more passes replaced what others took of earlier ones than took any."""
        return not self._unheld and 0 < self._taken < self._own

    def _held(self) -> set[int]:
        """The ages of the results that the script's variables hold."""
        return graph.ages(self._names.results())
