"""Whether what a pass hands to the next is what the loss trains there, towards a part of what that pass makes anew."""

from __future__ import annotations

from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.taps import Call
from ..program.frames import Frames, Raw

_PASSES = 8
_NODES = 2_000
_NUMBERS = 4_096
_BLOCK = 1 << 18
"""Numbers of gradients that are compared at once."""
_CLOSE, _ALL = 1e-4, 1 - 1e-3
_TWICE = 2


class Targets:
    """Compares, in each pass, the gradient of what was handed to it with that of what it hands on.

    A loss of `reward + discount * next_value - value`, in which `value` is the `next_value` of the pass before, sends
    the one the gradient of the other, times minus the discount. Cut where it is handed on, only the target learns. What
    is pulled towards what it was gets more gradient than that, or as much. As much has a target without a discount,
    too: but of two that are only held against each other, neither is ever pushed away from the other. Single numbers
    are pulled by a part of what they differ by, too, or by no more than the most, which the error of a target is not.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._sent: dict[Raw, tuple[list[graph.Node], dict[graph.Node, torch.Tensor]]] = {}
        """Of the latest pass at a place: the nodes that were handed to it, and the gradients that nodes got."""
        self._passes: dict[Raw, int] = {}
        self._parts: dict[tuple[Raw, int, int], list[float]] = {}
        """By place and pair of nodes, the part of the one's gradient that the other got in each."""
        self._unlike: dict[tuple[Raw, int], int] = {}
        """By place and the one of such a pair, as bits, the others that got no part of its gradient in some pass."""
        self._values: dict[Raw, list[dict[graph.Node, torch.Tensor]]] = {}
        """Of the latest two passes at a place: what was handed to each."""
        self._apart: set[tuple[Raw, int, int]] = set()
        """The pairs of which one was pushed away from the other."""
        self._single: dict[tuple[Raw, int, int], list[tuple[float, float]]] = {}
        """Of pairs of single numbers, by how much they differ in each pass, and the gradient of the one handed on."""

    def told(self) -> tuple[wire.Fact, ...]:
        """The places where it is so."""
        some = ((pair, parts) for pair, parts in self._parts.items() if not self._is_unlike(*pair))
        found = (pair for pair, parts in some if _discounts(parts, whole=self._is_apart(pair)))
        places = dict.fromkeys(pair[0] for pair in found)
        return tuple(self._frames.fact("target-handed-on", raw) for raw in places)

    def watch(self, call: Call, old: list[graph.Node], fresh: list[graph.Node]) -> None:
        """A backward is about to go through `fresh` nodes, and to `old`, the outermost ones of earlier passes."""
        old = sorted((node for node in old if graph.leaf(node) is None), key=lambda node: node._sequence_nr())
        count = self._passes[call.stack] = self._passes.get(call.stack, 0) + 1
        if old and count <= _PASSES:
            held = self._names.results()
            before = self._values.get(call.stack, [])
            self._values[call.stack] = [*before[-1:], {node: held[node] for node in old if node in held}]
        if call.stack in self._sent:
            self._compare(call.stack, *self._sent.pop(call.stack), old)
        if count > _PASSES or len(fresh) > _NODES:
            return
        got: dict[graph.Node, torch.Tensor] = {}
        self._sent[call.stack] = old, got

        def hook(node: graph.Node) -> Any:
            def note(gradients: tuple[torch.Tensor | None, ...]) -> None:
                first = gradients[0] if gradients else None
                if len(gradients) == 1 and first is not None and first.numel() <= _NUMBERS:
                    with quiet():
                        got[node] = first.clone()

            return note

        call.cleanups.extend(
            node.register_prehook(hook(node)).remove for node in (*old, *fresh) if graph.leaf(node) is None
        )

    def _compare(
        self, stack: Raw, handed: list[graph.Node], got: dict[graph.Node, torch.Tensor], on: list[graph.Node]
    ) -> None:  # fmt: skip
        ends = [_behind_views(node, got) for node in on]
        known = [j for j, end in enumerate(ends) if end in got]
        kinds: dict[str, int] = {}
        for j in known:
            kinds[on[j].name()] = kinds.get(on[j].name(), 0) | 1 << j
        with quiet():
            beside = _Beside([got[ends[j]] for j in known])
            for i, one in enumerate(handed):
                same = kinds.get(one.name(), 0) if one in got else 0  # all else is no later value of that
                unlike = self._unlike.get((stack, i), 0)
                if not same & ~unlike:
                    continue
                found = {known[at]: part for at, part in beside.parts(got[one]).items()}
                self._unlike[stack, i] = unlike | (same & ~sum(1 << j for j in found))
                for j, part in found.items():
                    if same >> j & 1 and not self._is_unlike(stack, i, j):
                        self._parts.setdefault((stack, i, j), []).append(part)
                        if part >= _ALL:
                            self._hold((stack, i, j), one, on[j], got[ends[j]])

    def _is_unlike(self, stack: Raw, i: int, j: int) -> bool:
        return bool(self._unlike.get((stack, i), 0) >> j & 1)

    def _hold(self, pair: tuple[Raw, int, int], one: graph.Node, other: graph.Node, gradient: torch.Tensor) -> None:
        """Hold a gradient against the way from what a pass was handed to what it handed on."""
        before, after = (self._values.get(pair[0]) or [{}, {}])[-_TWICE:]
        was, now = before.get(one), after.get(other)
        if was is None or now is None or not was.numel() == now.numel() == gradient.numel():
            return
        way = (now - was.reshape(now.shape)).detach().flatten()
        pull = gradient.flatten() * way
        if bool(pull.min() < -_CLOSE * pull.abs().max()):
            self._apart.add(pair)
        if way.numel() == 1:
            self._single.setdefault(pair, []).append((float(way), float(gradient)))

    def _is_apart(self, pair: tuple[Raw, int, int]) -> bool:
        """Whether two numbers are not only held against each other."""
        found = [(gradient / way, abs(gradient)) for way, gradient in self._single.get(pair, ()) if way]
        part, most = (max(one, default=0.0) * (1 - _CLOSE) for one in (zip(*found, strict=True) if found else ((), ())))
        return pair in self._apart or any(one < part and size < most for one, size in found)


class _Beside:
    """Gradients to hold others against, each against all at once: those of as many numbers are rows of matrices."""

    def __init__(self, targets: list[torch.Tensor]) -> None:
        self._whole, self._sums = _rows(targets), _rows([one.sum(-1) for one in targets])

    def parts(self, trained: torch.Tensor) -> dict[int, float]:
        """Those that are this gradient times a factor from 0 to 1, the other way, by each number or by their sums."""
        found: dict[int, float] = {}
        for one, alike in ((trained, self._whole), (trained.sum(-1), self._sums)):
            a = one.double().flatten()
            for places, rows in alike.get(a.numel(), ()) if bool(a.any()) else ():
                part = (rows[:, a != 0] / a[a != 0]).amax(1)
                left = torch.minimum((rows - part[:, None] * a).abs(), rows.abs())
                good = (part >= 0) & (part <= 1 + _CLOSE) & (left <= _CLOSE * a.abs()).all(1)
                for at in good.nonzero().flatten().tolist():
                    found.setdefault(places[at], float(part[at]))
        return found


def _rows(tensors: list[torch.Tensor]) -> dict[int, list[tuple[list[int], torch.Tensor]]]:
    """By how many numbers tensors have, which of them these are, and matrices of these numbers, the other way."""
    alike: dict[int, list[int]] = {}
    for place, one in enumerate(tensors):
        alike.setdefault(one.numel(), []).append(place)
    found: dict[int, list[tuple[list[int], torch.Tensor]]] = {}
    for count, places in alike.items():
        most = max(1, _BLOCK // max(1, count))
        blocks = [places[at : at + most] for at in range(0, len(places), most)]
        found[count] = [(block, -torch.stack([tensors[at].double().flatten() for at in block])) for block in blocks]
    return found


def _behind_views(node: graph.Node, got: dict[graph.Node, torch.Tensor]) -> graph.Node:
    """The node itself, or behind views that were made of it at the end of the pass, the one that got a gradient."""
    while node not in got and len(node.next_functions) == 1 and node.next_functions[0][0]:
        node = node.next_functions[0][0]
    return node


def _discounts(parts: list[float], *, whole: bool) -> bool:
    """Whether it is one part in all passes, but for those in which an episode ends; all of it, if `whole`."""
    some = [part for part in parts if part]
    one = len(some) >= _TWICE and max(some) - min(some) <= _CLOSE
    return one and (whole or max(some) < _ALL)
