"""The terms of losses: whether a backward call starts from the loss of its last pass and more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import wire
from ..engine import graph
from ..engine.taps import Call, Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..program.frames import Frames, Raw

_ADDS = frozenset(
    f"{name}Backward{kind}"
    for name in (
        *("Add", "Sub", "Neg", "Sum", "Mean", "Stack", "Cat"),
        *("View", "Reshape", "Squeeze", "Unsqueeze", "Clone", "ToCopy"),
    )
    for kind in ("", "0", "1")
)
_SCALES = frozenset({"MulBackward0", "DivBackward0"})


class GrowingLosses(Listener):
    """Follows the sum that each backward call starts from down to its addends; `found` holds each loss that grows.

    A loss grows if, at one place, it has all the terms that it had at the call before, and others besides. Over steps
    it does so where an optimizer stepped between these calls; there each term has to have its full weight, which it has
    in a sum, and has no more in a running average or a mean over those so far.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._before: dict[Raw, set[int]] = {}
        self._whole: dict[Raw, tuple[int, set[int]]] = {}
        """The terms of full weight of each place, and how many steps there had been."""
        self._steps = 0
        self.found: dict[tuple[str, Raw], wire.Fact] = {}

    def told(self) -> dict[str, Any]:
        """The losses that grow."""
        return {"facts": tuple(self.found.values())}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        terms = _terms(call.roots)
        before = self._before.get(call.stack)
        self._before[call.stack] = terms
        if before and before < terms:
            self._report("loss-grows", terms, call)
        whole = graph.ages(addends(call.roots, lambda node: node.name() not in _SCALES))
        steps, earlier = self._whole.get(call.stack, (self._steps, set()))
        self._whole[call.stack] = self._steps, whole
        if steps < self._steps and earlier and earlier < whole:
            self._report("loss-grows-over-steps", whole, call)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps += 1

    def _report(self, name: str, terms: set[int], call: Call) -> None:
        fact = wire.Fact(name, str(len(terms)), self._frames.resolve(call.stack))
        self.found.setdefault((name, call.stack), fact)


def addends(roots: Iterable[Any], enter: Callable[[graph.Node], bool] = lambda _node: True) -> Iterator[graph.Node]:
    """The nodes that are summed up into the roots, each with a constant weight; none behind those `enter` refuses."""

    def sums(node: graph.Node) -> bool:
        return is_sum(node) and enter(node)

    return (node for node in graph.walk(roots, sums) if not sums(node))


def _terms(roots: tuple[Any, ...]) -> set[int]:
    """The ages of the addends of a loss."""
    return graph.ages(addends(roots))


def divisors(roots: Iterable[Any]) -> tuple[float, ...]:
    """The numbers by which a loss is divided on the way from its addends to the roots."""
    found = (_divisor(node) for node in graph.walk(roots, is_sum) if node.name() in _SCALES and is_sum(node))
    return tuple(by for by in found if by is not None)


def _divisor(node: Any) -> float | None:
    """The number by which a node divides, None for one that multiplies by data."""
    other = getattr(node, "_saved_other", None)
    if not isinstance(other, torch.Tensor) or other.numel() != 1 or other.requires_grad:
        return None
    value = float(other)
    return value if node.name() == "DivBackward0" else 1 / value if value else None


def is_sum(node: graph.Node) -> bool:
    """Whether what a node makes is a sum of what it takes, each with a constant weight."""
    name = node.name()
    return name in _ADDS or (name in _SCALES and len(graph.children(node)) == 1)
