"""When that was made which passes share with others, and whether each of them had use for it then."""

from __future__ import annotations

import bisect
from itertools import pairwise
from typing import Any

from ..program.frames import Raw

_FEW = 2
"""Between so many steps something may be made that is then kept as it is: at the start, and once more."""


class Makings:
    """Of each pass that shares something, between which steps that was made: by the age of the graph at each step."""

    def __init__(self) -> None:
        self.ages: list[int] = []
        """The age of the graph at each step."""
        self.of: list[frozenset[Any]] = []
        """The data that each of them was made of, as far as somebody watches for that."""
        self._makings: list[set[int]] = []
        self._ahead: set[int] = set()
        """Between which steps any of that was made that its site had no use for yet."""
        self._used: dict[Raw, set[int]] = {}
        """Of each site, the ages of what the pass used that had made it."""

    def used(self, site: Raw, ages: set[int]) -> None:
        """A pass uses what it has made itself."""
        self._used.setdefault(site, set()).update(ages)

    def shared(self, site: Raw, ages: set[int]) -> None:
        """A pass shares what has these ages."""
        self._makings.append(self._between(ages))
        self._ahead |= self._between(ages - self._used[site])

    def newest(self) -> list[int]:
        """Of each such pass, behind how many steps the last of that was made."""
        return [max(one) for one in self._makings]

    def again(self) -> bool:
        """Whether what is shared was made more than once, and each pass took what had been made last."""
        newest = self.newest()
        whole = all(len(one) == 1 for one in self._makings)
        made = zip(newest, self.of, strict=False)
        refreshed = any(one != other and data == same for (one, data), (other, same) in pairwise(made))
        return whole and newest == sorted(newest) and len(set(newest)) > 1 and not refreshed

    def renewed(self) -> bool:
        """Whether it was made between as many steps as half of the passes, and more than once before it was used.

        So is a memory that is filled on and on. A cache is not: a pass fills it with what it needs itself.
        """
        makings = set().union(*self._makings)
        return len(makings) > _FEW and len(self._ahead) > 1 and 2 * len(makings) >= len(self._makings)

    def _between(self, ages: set[int]) -> set[int]:
        return {bisect.bisect(self.ages, age) for age in ages}
