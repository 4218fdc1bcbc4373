"""The terms of losses: whether a backward call starts from the loss of its last pass and more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.sketch import is_zero
from ..engine.sums import SCALES, is_sum
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

_WEIGHS = SCALES | {"NegBackward0"}
_CLOSE = 1e-6


class GrowingLosses(Listener):
    """Follows the sum that each backward call starts from down to its addends; `found` holds each loss that grows.

    A loss grows if, at one place, it has all the terms that it had at the call before, and others besides. Over steps
    it does so where an optimizer stepped between these calls; there the weights of these terms must not all have shrunk
    by one part, as they do in a running average or a mean over those so far. Those that were new a call before may
    shrink more: they were a loss of their own beside their share of an average. Between two steps it grows in part
    where it has terms of the call before beside as many new ones as that had, of the same kinds: a list that nobody
    empties. A term that all calls share has no new one beside it.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._before: dict[Raw, tuple[int, dict[int, float], dict[int, str]]] = {}
        """How many steps there had been at each place, and the terms, by age, with their weights and kinds."""
        self._fresh: dict[Raw, set[int]] = {}
        """Those of them that were new."""
        self._steps = 0
        self.found: dict[tuple[str, Raw], wire.Fact] = {}

    def told(self) -> dict[str, Any]:
        """The losses that grow."""
        return {"facts": tuple(self.found.values())}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        with quiet():
            terms, nodes = _weights(call.roots)
        steps, before, had = self._before.get(call.stack, (self._steps, {}, {}))
        self._before[call.stack] = self._steps, terms, {age: node.name() for age, node in nodes.items()}
        if before and before.keys() < terms.keys():
            self._report("loss-grows", terms, call)
            if steps < self._steps and not _shrinks(before, terms, self._fresh.get(call.stack, set())):
                self._report("loss-grows-over-steps", terms, call)
        elif steps == self._steps and _grows_in_part(had, nodes):
            self._report("loss-grows", terms, call)
        self._fresh[call.stack] = terms.keys() - before.keys()

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps += 1

    def _report(self, name: str, terms: dict[int, float], call: Call) -> None:
        fact = self._frames.fact(name, call.stack, str(len(terms)))
        self.found.setdefault((name, call.stack), fact)


def sums_of(root: Any) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The loss that a backward starts from, without the numbers that it is multiplied by, and all that it sums up.

    Each as the age of a node and which of its outputs it is.
    """
    node, at = graph.made_by(root), root.output_nr
    starts, summed = {(node._sequence_nr(), at)}, set[tuple[int, int]]()
    while node.name() in _WEIGHS and is_sum(node) and _factor(node, single=True):
        node, at = next((child, at) for child, at in node.next_functions if child is not None)
        if graph.leaf(node) is None:
            starts.add((node._sequence_nr(), at))
    for one in graph.walk([root], is_sum):
        ends = one.next_functions if is_sum(one) else ()
        summed |= {(child._sequence_nr(), at) for child, at in ends if child is not None and graph.leaf(child) is None}
    return starts, starts | summed


def _weights(roots: Iterable[Any]) -> tuple[dict[int, float], dict[int, graph.Node]]:
    """The ages of the addends of a loss, each with its weight (its size, where it is one for each); and their nodes."""
    queue, found = [(node, 1.0) for node in graph.starts(roots)], dict[int, float]()
    nodes = dict[int, graph.Node]()
    for node, weight in queue:
        if len(queue) > graph.LIMIT:
            break
        if is_sum(node):
            queue.extend((child, weight * _factor(node)) for child in graph.children(node))
        elif graph.leaf(node) is None:
            found[node._sequence_nr()] = found.get(node._sequence_nr(), 0.0) + weight
            nodes[node._sequence_nr()] = node
    return found, nodes


def _grows_in_part(before: dict[int, str], now: dict[int, graph.Node]) -> bool:
    """Whether a loss has all kinds of terms of an earlier one anew, and some of its terms, which left gradient."""
    shared = [node for age, node in now.items() if age in before]
    new = Counter(node.name() for age, node in now.items() if age not in before)
    if not shared or not Counter(before.values()) <= new:
        return False
    with quiet():
        leaves = graph.leaves(graph.walk_nodes(shared))
        return any(leaf.grad is not None and not is_zero(leaf.grad) for leaf in leaves)


def _shrinks(before: dict[int, float], now: dict[int, float], fresh: set[int]) -> bool:
    """Whether the weights of all terms became smaller by the same part, or are not known; `fresh` ones by more."""
    parts = {age: now[age] / weight if weight else math.nan for age, weight in before.items()}
    older = [part for age, part in parts.items() if age not in fresh] or list(parts.values())
    if math.isnan(sum(parts.values())):
        return True
    return max(parts.values()) < 1 - _CLOSE and max(older) - min(older) < _CLOSE


def divisors(roots: Iterable[Any]) -> tuple[float, ...]:
    """The numbers by which a loss is divided on the way from its addends to the roots."""
    found = (_divisor(node) for node in graph.walk(roots, is_sum) if node.name() in SCALES and is_sum(node))
    return tuple(by for by in found if by is not None)


def _divisor(node: Any) -> float | None:
    """The number by which a node divides, None for one that multiplies by data."""
    factor = _factor(node, single=True)
    return 1 / factor if factor else None


def _factor(node: Any, *, single: bool = False) -> float:
    """By what a node multiplies; where that is one number for each, their size, or 0 if a `single` one is asked for."""
    if node.name() not in SCALES:
        return 1.0
    taken = next(at for at, (child, _) in enumerate(node.next_functions) if child is not None)
    try:
        other = getattr(node, "_saved_self" if taken else "_saved_other", None)
    except RuntimeError:  # it was freed
        return math.nan
    if not isinstance(other, torch.Tensor) or not other.numel() or (single and other.numel() != 1):
        return 0.0 if single else math.nan
    size = float(other.detach().double().square().mean().sqrt())
    return 1 / (size or math.nan) if node.name() == "DivBackward0" else size


def is_added(node: graph.Node) -> bool:
    """Whether it is one in which each counts as a whole, times a number, and none is taken from what is of several.

    A term of the loss itself, which is one number, may be taken from it, as an entropy is.
    """
    taken = node.name().startswith(("Sub", "Neg")) and not graph.is_number(node)
    return is_sum(node) and not taken and bool(_factor(node, single=True))
