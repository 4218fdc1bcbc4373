"""Whether the gradients that a value gets from its several uses are always each other's opposite."""

from __future__ import annotations

from typing import Any

import torch

from ..engine import graph
from ..engine.operators import Functions
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

_JOINS = graph.kinds("Div", "Mul", "Sub", "Add")
_OFTEN = 4
"""Passes of one place that are looked at, from the first on in which gradients cancelled."""
_MOST = 5000
"""Nodes beyond which a graph is not looked at, nor where they were made."""
_ROUNDING = 1e-4

_Made = tuple[graph.Node, int]


class Cancels(Functions, Listener):
    """Looks at each value that is joined with a constant in one use, and used elsewhere, too.

    Passes before the first in which gradients cancel may be of another phase.

    Where a use sends exactly nothing, as behind a bound that is reached, nothing can be said of that number. Nor can it
    where the same place makes several values in a pass, and only some of them cancel: the first of a loop may begin
    with what it is held against.
    """

    def __init__(self, frames: Frames) -> None:
        super().__init__()
        self._frames = frames
        self.places: dict[int, Raw] = {}
        """Where what has a graph was made since the latest backward, by the ages of nodes."""
        self._passes: dict[Raw, list[bool]] = {}
        """For each place of a backward: whether gradients of a value cancelled, pass by pass."""
        self._watched: set[_Made] = set()
        self._came: dict[_Made, list[torch.Tensor]] = {}
        self._hooks: list[Any] = []

    def told(self) -> dict[str, Any]:
        """The places of backwards in each pass of which gradients cancelled."""
        always = [raw for raw, seen in self._passes.items() if len(seen) > 1 and all(seen)]
        return {"facts": tuple(self._frames.fact("gradient-cancels", raw) for raw in always)}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        node = graph.made_by(result) if isinstance(result, torch.Tensor) else None
        if node is not None and len(self.places) < _MOST:
            self.places[node._sequence_nr()] = self._frames.here()
        return result

    def backward(self, call: Call) -> None:
        self._forget()
        if len(self._passes.get(call.stack, ())) >= _OFTEN:
            return
        nodes = list(graph.walk(call.roots))
        users: dict[_Made, set[graph.Node]] = {}
        for node in nodes if len(nodes) < _MOST else ():
            for made in node.next_functions:
                if made[0] is not None and graph.leaf(made[0]) is None:
                    users.setdefault(made, set()).add(node)
        several = {made: by for made, by in users.items() if len(by) > 1}
        self._watched = {made for made, by in several.items() if any(_joins(node, made) for node in by)}
        for node in set().union(*(users[made] for made in self._watched)):
            self._hooks.append(node.register_hook(self._hook(node.next_functions)))

    def _hook(self, made: tuple[Any, ...]) -> Any:
        def sent(gradients: tuple[Any, ...], _arrived: Any) -> None:
            for one, gradient in zip(made, gradients, strict=False):
                if gradient is not None and one in self._watched:
                    self._came.setdefault(one, []).append(gradient)

        return sent

    def backward_done(self, call: Call) -> None:
        with quiet():
            if self._watched:
                at: dict[Raw, list[bool]] = {}
                for made, came in self._came.items():
                    at.setdefault(self.places.get(made[0]._sequence_nr(), ()), []).append(_cancel(came))
                if (gone := any(map(all, at.values()))) or call.stack in self._passes:
                    self._passes.setdefault(call.stack, []).append(gone)
        self.places.clear()
        self._forget()

    def _forget(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._came.clear()
        self._watched = set()


def _joins(node: graph.Node, made: _Made) -> bool:
    """Whether a node scales what was made by something that has no graph, or takes its distance from that."""
    return node.name() in _JOINS and node.next_functions[0] == made and node.next_functions[1][0] is None


def _cancel(came: list[torch.Tensor]) -> bool:
    """Whether what came adds up to nothing, wherever each use sends something; and so does most of it."""
    if len(came) < 2 or len({one.shape for one in came}) > 1:  # noqa: PLR2004
        return False
    parts = torch.stack([one.detach().double() for one in came])
    sizes, total = parts.abs().sum(0), parts.sum(0).abs()
    told, whole = sizes > 0, (parts != 0).all(0)
    gone = whole & (total <= _ROUNDING * (sizes + sizes.max()))
    return bool((gone == whole).all()) and bool(2 * gone.sum() > told.sum())
