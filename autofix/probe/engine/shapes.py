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
        an edit computes it at each use, as many operations and no others. Of a call that is told its `inputs`, the
        others get nothing.
        """
        owners = self._taps.owned
        if owners and all(self._told[i] == self._most for i in range(len(owners))):
            return
        forms: dict[Any, dict[int, int]] = {}
        known: dict[tuple[Any, ...], int] = {}
        inputs = set(map(id, call.inputs)) if call.accumulate else set[int]()
        kinds: list[dict[int, str]] = [{} for _ in owners]
        for node in graph.children_first(call.roots):
            variable, name = graph.leaf(node), node.name()
            name = _RESHAPES[0] if name.startswith(_RESHAPES) else name
            children = graph.children(node)
            if name.endswith(_OVERWRITES):  # what was there before gets zeros
                children = tuple(child for child, _ in node.next_functions[1:] if child is not None)
            below = [led for child in children if (led := forms.get(child))]
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
            mine = forms[node] = {i: known.setdefault(form, len(known)) for i, form in own.items()}
            for i, form in mine.items():
                kinds[i][form] = name
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
