"""What the graphs behind the gradients of a step are made of: told apart from others, whatever numbers they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from . import graph
from .taps import Call, Taps

_OVERWRITES = "CopyBackwards"
_NO_SHAPE = ("Clone", "Detach", "Select", "Unbind", "Split", "Slice", f"torch::autograd::{_OVERWRITES}")
_RESHAPES = ("View", "ReshapeAlias", "UnsafeView")
"""One operation, which torch makes of a call as modes are on or off."""


class Shapes:
    """Counts the operations of each backward call, by the optimizer that they lead to."""

    def __init__(self, taps: Taps, most: int) -> None:
        """`most`: of how many steps of each optimizer; as many as there are if it is negative."""
        self._taps, self._most = taps, most
        self._counted: dict[int, list[Counter[str]]] = {}
        self._told: Counter[int] = Counter()

    def backward(self, call: Call) -> None:
        """Count, for each optimizer, the kinds of nodes through which `call` leads to its parameters.

        Nodes that do the same to the same of its parameters count once: what is computed once and used twice is, where
        an edit computes it at each use, as many operations and no others. What is added and taken away again is none
        at all, as weights that are merged for a while. Of a call that is told its `inputs`, the others get nothing.
        """
        owners = self._taps.owned
        if owners and all(self._told[i] == self._most for i in range(len(owners))):
            return
        forms: dict[Any, dict[int, int]] = {}
        names: dict[Any, str] = {}
        starts: dict[Any, Any] = {}
        known: dict[tuple[Any, ...], int] = {}
        inputs = set(map(id, call.inputs)) if call.accumulate else set[int]()
        kinds: list[dict[int, str]] = [{} for _ in owners]
        for node in graph.children_first(call.roots):
            variable, name = graph.leaf(node), node.name()
            name = _RESHAPES[0] if name.startswith(_RESHAPES) else name
            if (start := _put_back(node, forms)) is not node:
                starts[node], forms[node] = start, forms.get(start, {})
                continue
            below = [led for child in _children(node) if (led := forms.get(child))]
            if len(below) == 1 and name.startswith(_NO_SHAPE):
                forms[node] = below[0]
                continue
            own: dict[int, tuple[Any, ...]]
            if variable is not None and inputs and id(variable) not in inputs:
                own = {}
            elif variable is not None:
                own = {i: (id(variable),) for i, parameters in enumerate(owners) if id(variable) in parameters}
            elif len(below) == 1:
                own = {i: (name, form) for i, form in below[0].items()}
            else:
                leading = set().union(*below)
                own = {i: (name, *sorted({child[i] for child in below if i in child})) for i in leading}
            forms[node], names[node] = {i: known.setdefault(form, len(known)) for i, form in own.items()}, name
        left = _left(graph.starts(call.roots), starts) if starts else names
        for node in names.keys() & left:
            for i, form in forms[node].items():
                kinds[i][form] = names[node]
        self._counted[call.index] = [Counter(found.values()) for found in kinds]

    def of(self, index: int, calls: Iterable[int]) -> str:
        """What the graphs of some calls are made of that lead to an optimizer's parameters.

        But for copies, and for what takes a part: a reference takes it in another way where it may be written to.
        """
        if self._told[index] == self._most:
            return ""
        self._told[index] += 1
        total: Counter[str] = Counter()
        for number in calls:
            counted = self._counted.get(number, [])
            total.update(counted[index] if index < len(counted) else {})
        return " ".join(f"{name}:{count}" for name, count in sorted(total.items()) if not name.startswith(_NO_SHAPE))


def _children(node: Any) -> tuple[Any, ...]:
    """The nodes that a node leads to: where it overwrites, what was there before gets zeros."""
    if node.name().endswith(_OVERWRITES):
        return tuple(child for child, _ in node.next_functions[1:] if child is not None)
    return graph.children(node)


def _put_back(node: Any, forms: dict[Any, dict[int, int]]) -> Any:
    """What a node leaves of two that take away what was just added, None where that is a constant; else the node."""
    if node.name() != "SubBackward0":
        return node
    (total, _), (less, _) = node.next_functions
    if total is None or total.name() != "AddBackward0" or node._saved_alpha != total._saved_alpha:
        return node
    (start, _), (more, _) = total.next_functions
    return start if forms.get(less) and forms.get(more) == forms[less] else node


def _left(nodes: list[Any], starts: dict[Any, Any]) -> set[Any]:
    """The nodes that are reached where each of some leads to its start alone."""
    found, stack = set[Any](), nodes
    while stack:
        if (node := stack.pop()) is not None and node not in found:
            found.add(node)
            stack += [starts[node]] if node in starts else graph.children(node)
    return found
