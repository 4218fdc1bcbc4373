"""Whether all that passes take of earlier ones are states of a recurrence, which goes on in them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable

from ..engine import graph

_SEVERAL = 2


class States:
    """Looks at what each pass takes of earlier ones: the state in which a rollout began, for several epochs on it.

    What made a state is applied to it again, in the same way. It was made by several such applications, one after the
    other: what a network gives once for a sample, to be refined by it in several passes, is no state. And passes took
    several states: one that is made before them all may be a start that is meant to be learned.
    """

    def __init__(self) -> None:
        self._all = True
        self._nested = False
        self._newest: set[int] = set()

    def told(self) -> bool:
        """Whether all were states, and several of them."""
        return self._all and self._nested and len(self._newest) >= _SEVERAL

    def watch(self, old: list[graph.Node], *, recurs: bool) -> None:
        """A backward is about to reach `old` nodes of an earlier pass; `recurs`: a recurrence leads on from all."""
        self._all = self._all and recurs
        if self._all:
            self._nested = self._nested or _is_nested(old)
            self._newest.add(max(map(_age, old)))


def _is_nested(tops: list[graph.Node]) -> bool:
    """Whether something is applied to what it made, in the same way, in what these nodes lead to."""
    places: dict[tuple[int, str], int] = {}
    under: dict[graph.Node, int] = {}
    for node in sorted(graph.operations(graph.walk_nodes(tops)), key=_age):  # children are older
        below = graph.children(node)
        laid = {child for child in below if child.name() in graph.LAID and any(graph.applied([child]))}
        mine = _bits(places.setdefault(used, 1 << len(places)) for used in graph.applied([node, *laid]))
        led = _bits(under.get(child, 0) for child in below if child not in laid)
        if mine & led:
            return True
        under[node] = mine | led
    return False


def _bits(found: Iterable[int]) -> int:
    return functools.reduce(operator.or_, found, 0)


def _age(node: graph.Node) -> int:
    return int(node._sequence_nr())
