"""Records that rounds keep up, and passes of a round read: each is made of itself as it was in the round before."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence

from ..engine import graph

_Kind = tuple[str, tuple[tuple[int, ...], ...]]


class Records:
    """Whether all that passes share is such a record, such as a dual variable that goes on from round to round.

    What is shared was made between two steps. A record leads on to what was made before the first of them, by the same
    operation and of the same shape; the one of the first round does not. No pass may have made it for itself: a state
    that the first pass of a round trains is another thing.
    """

    def __init__(self) -> None:
        self._made: set[int] = set()
        """The ages of what passes made for themselves."""
        self._known: dict[int, bool] = {}
        """Of each node that passes share, by its age, whether it goes on."""
        self._began: set[_Kind] = set()
        self._go_on: set[_Kind] = set()
        self._others = False

    @property
    def all(self) -> bool:
        """Whether some were seen to go on, and all that is shared is of their kind."""
        return not self._others and bool(self._go_on) and self._began <= self._go_on

    def made(self, nodes: Iterable[graph.Node]) -> None:
        """A pass made these nodes for itself."""
        if not self._others:
            self._made |= graph.ages(nodes)

    def shared(self, nodes: Iterable[graph.Node], stepped: Sequence[int]) -> None:
        """Passes share these nodes; `stepped`: the age of the graph at each step."""
        for node in nodes:
            age = node._sequence_nr()
            if self._others or age in self._known:
                continue
            self._known[age] = True
            self._others = age in self._made or not self._goes_on(node, stepped)

    def _goes_on(self, node: graph.Node, stepped: Sequence[int]) -> bool:
        place = bisect.bisect(stepped, node._sequence_nr())
        before = stepped[place - 1] if place else 0
        _, older = graph.parted_nodes([node], before)
        kind = _kind(node)
        former = list(graph.operations(older))
        (self._go_on if former else self._began).add(kind)
        return not former or any(_kind(one) == kind for one in former)


def _kind(node: graph.Node) -> _Kind:
    return node.name(), tuple(graph.shapes(node))
