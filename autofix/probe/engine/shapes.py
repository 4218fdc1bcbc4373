"""What the graphs behind the gradients of a step are made of: told apart from others, whatever numbers they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from . import graph
from .taps import Call, Taps

_NO_SHAPE = ("Clone", "Detach", "Select", "Unbind", "Split", "Slice")


class Shapes:
    """Counts the operations of each backward call, by the optimizer that they lead to."""

    def __init__(self, taps: Taps) -> None:
        self._taps = taps
        self._counted: dict[int, list[Counter[str]]] = {}

    def backward(self, call: Call) -> None:
        """Count, for each optimizer, the kinds of nodes through which `call` leads to its parameters.

        Nodes that do the same to the same parameters count once: what is computed once and used twice is, where an edit
        computes it at each use, as many operations and no others.
        """
        owners = self._taps.owned
        leads: dict[Any, set[int]] = {}
        forms: dict[Any, int] = {}
        known: dict[tuple[Any, ...], int] = {}
        kinds: dict[int, tuple[str, set[int]]] = {}
        for node in graph.children_first(call.roots):
            variable = graph.leaf(node)
            found = {i for i, own in enumerate(owners) if id(variable) in own} if variable is not None else set()
            children = [child for child in graph.children(node) if child in leads]
            leads[node] = found.union(*(leads[child] for child in children))
            below = sorted({forms[child] for child in children if leads[child]})
            form = (id(variable),) if variable is not None else (node.name(), *below)
            forms[node] = known.setdefault(form, len(known))
            kinds[forms[node]] = node.name(), leads[node]
        self._counted[call.index] = [
            Counter(name for name, found in kinds.values() if i in found) for i in range(len(owners))
        ]

    def of(self, index: int, calls: Iterable[int]) -> str:
        """What the graphs of some calls are made of that lead to an optimizer's parameters.

        But for copies, and for what takes a part: a reference takes it in another way where it may be written to.
        """
        total: Counter[str] = Counter()
        for number in calls:
            counted = self._counted.get(number, [])
            total.update(counted[index] if index < len(counted) else {})
        return " ".join(f"{name}:{count}" for name, count in sorted(total.items()) if not name.startswith(_NO_SHAPE))
