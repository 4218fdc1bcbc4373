"""What losses send to the density of a sample that left torch: what weighs it shows in that."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.sketch import Sketcher
from ..engine.sums import is_sum
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

_PICKS = ("Dot", "Mv", "Mm", "Bmm", "Select", "Slice", "Index", "Expand", "Permute", "T", "Unbind")
"""What is linear in all that it takes, where only one of that has a graph."""
_CHOOSES = ("Minimum", "Maximum", "Clamp", "ClampMin", "ClampMax", "Where")
"""What gives some of what it takes: what it sends depends on which."""
_SHIFTS = ("Add", "Sub")
_OFTEN = 4
"""Passes of one place that are looked at, of those whose loss is made of such a sample."""
_MOST = 500
"""Samples of one pass beyond which none is looked at."""


class Densities(Listener):
    """Finds what a loss sums up of each sample and of what that was drawn by, and notes the gradient that comes there.

    A loss in which anything else is made of the sample, as a critic's value is, is none of a density.
    """

    def __init__(self, frames: Frames, places: Mapping[int, Raw]) -> None:
        """`places`: where what has a graph was made, by the ages of nodes."""
        self._frames, self._places = frames, places
        self._left: list[graph.Node] = []
        self._calls = Counter[Raw]()
        self._came: dict[tuple[Raw, Raw, bool], list[torch.Tensor | None]] = {}
        self._sketcher = Sketcher()

    def leaves_torch(self, tensor: torch.Tensor) -> None:
        """A result is turned into what is no tensor."""
        if (node := graph.made_by(tensor)) is not None and len(self._left) <= _MOST:
            self._left.append(node)

    def backward(self, call: Call) -> None:
        if not 0 < len(self._left) <= _MOST or self._calls[call.stack] >= _OFTEN:
            return
        chains = [list(_chain(node)) for node in self._left]
        samples = {node for chain in chains for node in chain}

        def sums(node: graph.Node) -> bool:
            return _is_linear(node) and node not in samples

        def chosen(node: graph.Node) -> bool:
            return sums(node) or (_kind(node) in _CHOOSES and node not in samples)

        parts = [node for node in graph.walk(call.roots, chosen) if not chosen(node)]
        summed = set(graph.walk(call.roots, sums))
        found = _of_densities(parts, chains, samples)
        self._calls[call.stack] += bool(found)
        for part in found:
            place = self._places.get(part._sequence_nr(), ())
            noted = self._came.setdefault((call.stack, place, part not in summed), [])
            call.cleanups.append(part.register_prehook(functools.partial(self._arrived, noted)).remove)

    def _arrived(self, noted: list[torch.Tensor | None], gradients: tuple[torch.Tensor | None, ...]) -> None:
        with quiet():
            noted.extend(None if one is None else one.detach().clone() for one in gradients)

    def backward_done(self, call: Call) -> None:
        self._left.clear()

    def told(self) -> dict[str, Any]:
        """What was sent to each place, in order."""
        resolve = self._frames.resolve
        with quiet():
            found = (
                wire.Density(resolve(loss), resolve(place), self._sketcher.sketches(came), chosen)
                for (loss, place, chosen), came in self._came.items()
            )
            return {"densities": tuple(found)}


def _chain(node: graph.Node) -> Iterator[graph.Node]:
    """What left torch, and what it is made of alone, as far as the sum of a mean and noise."""
    while graph.leaf(node) is None:
        below = graph.children(node)
        if len(below) == 1 or node.name().startswith(_SHIFTS):
            yield node
        if len(below) != 1:
            return
        (node,) = below


def _is_linear(node: graph.Node) -> bool:
    return is_sum(node) or (len(graph.children(node)) == 1 and _kind(node) in _PICKS)


def _kind(node: graph.Node) -> str:
    return node.name().partition("Backward")[0]


def _of_densities(
    parts: list[graph.Node], chains: list[list[graph.Node]], samples: set[graph.Node]
) -> list[graph.Node]:
    """Those parts of a loss that are made of samples; none where one is made of something else as well.

    Nor where all are made of samples alone, as what a fixed network says of them is: a density is made of the mean,
    too, of which it takes the sample's distance.
    """
    drawn_by = {id(leaf) for leaf in graph.leaves(graph.walk_nodes(samples))}
    found, distances = list[graph.Node](), 0
    for part in parts:
        below = set(graph.walk_nodes([part], lambda node: node not in samples))
        if samples.isdisjoint(below):
            continue
        beside = {id(leaf) for leaf in graph.leaves(below)}
        if part in samples or not beside <= drawn_by:
            return []
        found.append(part)
        distances += bool(beside) or any(_several(chain, below) for chain in chains)
    return found if distances else []


def _several(chain: list[graph.Node], nodes: Collection[graph.Node]) -> bool:
    return sum(one in nodes for one in chain) > 1
