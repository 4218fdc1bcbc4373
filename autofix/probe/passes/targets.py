"""Whether what a pass hands to the next is what the loss trains there, towards a part of what that pass makes anew."""

from __future__ import annotations

import math
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
        self._rows: dict[tuple[Raw, int], _Row] = {}
        """By place and the one of a pair of nodes, the part of its gradient that each other one got."""
        self._values: dict[Raw, list[dict[graph.Node, torch.Tensor]]] = {}
        """Of the latest two passes at a place: what was handed to each."""
        self._apart: set[tuple[Raw, int, int]] = set()
        """The pairs of which one was pushed away from the other."""
        self._single: dict[tuple[Raw, int, int], list[tuple[float, float]]] = {}
        """Of pairs of single numbers, by how much they differ in each pass, and the gradient of the one handed on."""

    def told(self) -> tuple[wire.Fact, ...]:
        """The places where it is so."""
        pairs = (((*key, j), whole) for key, row in self._rows.items() for j, whole in row.steady())
        found = (pair for pair, whole in pairs if not whole or self._is_apart(pair))
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
                        got[node] = first.clone() if first.layout is torch.strided else first.to_dense()

            return note

        call.cleanups.extend(
            node.register_prehook(hook(node)).remove for node in (*old, *fresh) if graph.leaf(node) is None
        )

    def _compare(
        self, stack: Raw, handed: list[graph.Node], got: dict[graph.Node, torch.Tensor], on: list[graph.Node]
    ) -> None:  # fmt: skip
        ends = [_behind_views(node, got) for node in on]
        known = [j for j, end in enumerate(ends) if end in got]
        kinds: dict[str, torch.Tensor] = {}
        with quiet():
            for j in known:
                kinds.setdefault(on[j].name(), torch.zeros(len(on), dtype=torch.bool))[j] = True
            beside = _Beside([got[ends[j]] for j in known], known, len(on))
            for i, one in enumerate(handed):
                same = kinds.get(one.name()) if one in got else None  # all else is no later value of that
                if same is None:
                    continue
                row = self._rows.setdefault((stack, i), _Row())
                asked = row.asked(same)
                if bool(asked.any()):
                    for j in row.take(asked, beside.parts(got[one])):
                        self._hold((stack, i, j), one, on[j], got[ends[j]])

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


class _Row:
    """What others got of one gradient, pass by pass. Of both there may be thousands, so all others are one tensor."""

    def __init__(self) -> None:
        self._unlike = torch.zeros(0, dtype=torch.bool)
        """Those that got no part of it in some pass, or another one than before."""
        self._count, self._least, self._most = torch.zeros(3, 0, dtype=torch.double)
        """In how many passes they got some, and how much."""

    def asked(self, same: torch.Tensor) -> torch.Tensor:
        """Those of `same` that are not unlike."""
        more = max(0, len(same) - len(self._unlike))
        self._unlike = torch.cat([self._unlike, torch.zeros(more, dtype=torch.bool)])
        self._count = torch.cat([self._count, torch.zeros(more, dtype=torch.double)])
        self._least = torch.cat([self._least, torch.full((more,), math.inf, dtype=torch.double)])
        self._most = torch.cat([self._most, torch.full((more,), -math.inf, dtype=torch.double)])
        return same & ~self._unlike[: len(same)]

    def take(self, asked: torch.Tensor, parts: torch.Tensor) -> list[int]:
        """Hear what those that were asked got in a pass, NaN where no part; returns those that got all of it."""
        heard, size = asked & ~parts.isnan(), len(asked)
        some = heard & (parts > _CLOSE)  # nothing is sent where an episode ends, and no part is a sum that vanishes
        self._count[:size] += some
        self._least[:size] = torch.where(some, torch.minimum(self._least[:size], parts), self._least[:size])
        self._most[:size] = torch.where(some, torch.maximum(self._most[:size], parts), self._most[:size])
        self._unlike[:size] |= (asked & ~heard) | (self._most[:size] - self._least[:size] > _CLOSE)
        whole: list[int] = (heard & (parts >= _ALL)).nonzero().flatten().tolist()
        return whole

    def steady(self) -> list[tuple[int, bool]]:
        """Those that got the same part in all passes in which they got some, and whether that is all of it."""
        found = (~self._unlike & (self._count >= _TWICE)).nonzero().flatten().tolist()
        return [(j, bool(self._most[j] >= _ALL)) for j in found]


class _Beside:
    """Gradients to hold others against, each against all at once: those of as many numbers are rows of matrices."""

    def __init__(self, targets: list[torch.Tensor], places: list[int], size: int) -> None:
        """`places`: which of so many (`size`) these are."""
        self._places, self._size = torch.tensor(places, dtype=torch.long), size
        self._whole, self._sums = _rows(targets), _rows([one.sum(-1) for one in targets])

    def parts(self, trained: torch.Tensor) -> torch.Tensor:
        """The factor from 0 to 1 by which each is this gradient the other way, by each number or else by their sums.

        NaN where there is none.
        """
        found = torch.full((self._size,), math.nan, dtype=torch.double)
        for one, alike in ((trained.sum(-1), self._sums), (trained, self._whole)):
            a = one.double().flatten()
            for places, rows in alike.get(a.numel(), ()) if bool(a.any()) else ():
                part = (rows[:, a != 0] / a[a != 0]).amax(1)
                left = torch.minimum((rows - part[:, None] * a).abs(), rows.abs())
                good = (part >= 0) & (part <= 1 + _CLOSE) & (left <= _CLOSE * a.abs()).all(1)
                found[self._places[places][good.cpu()]] = part[good].cpu()
        return found


def _rows(tensors: list[torch.Tensor]) -> dict[int, list[tuple[torch.Tensor, torch.Tensor]]]:
    """By how many numbers tensors have, which of them these are, and matrices of these numbers, the other way."""
    alike: dict[int, list[int]] = {}
    for place, one in enumerate(tensors):
        alike.setdefault(one.numel(), []).append(place)
    found: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}
    for count, places in alike.items():
        most = max(1, _BLOCK // max(1, count))
        blocks = [places[at : at + most] for at in range(0, len(places), most)]
        found[count] = [
            (torch.tensor(block), -torch.stack([tensors[at].double().flatten() for at in block])) for block in blocks
        ]
    return found


def _behind_views(node: graph.Node, got: dict[graph.Node, torch.Tensor]) -> graph.Node:
    """The node itself, or behind views that were made of it at the end of the pass, the one that got a gradient."""
    while node not in got and len(node.next_functions) == 1 and node.next_functions[0][0]:
        node = node.next_functions[0][0]
    return node
