"""Derivatives by inputs that only some passes use: is there anything else that they were meant to be taken by?"""

from __future__ import annotations

from typing import Any

import torch

from ..engine import graph
from ..engine.sources import DataSources
from ..engine.taps import Listener, Taps
from ..program.frames import Frames, Raw


class LeftOut(Listener):
    """Looks at each derivative: is its output made of anything that could stand for its inputs?

    A pass that leaves an input out may have cut the graph to it, or taken other data: then zeros are no derivative that
    anybody means. An output of what is trained and of indices alone depends on no data at all, and zeros are right.
    Inputs of whole numbers, as of one-hot vectors, may stand for the indices.
    """

    def __init__(self, frames: Frames, taps: Taps, sources: DataSources) -> None:
        self._frames, self._taps, self._sources = frames, taps, sources
        self._used: set[Raw] = set()
        """Where a pass uses an input that is no index."""
        self._left_out: dict[Raw, bool] = {}
        """Where a pass does not: whether all such passes have outputs that depend on no data."""

    def told(self) -> dict[str, Any]:
        """The places where some passes use the inputs, and all others could not."""
        places = (raw for raw, apart in self._left_out.items() if apart and raw in self._used)
        return {"facts": tuple(self._frames.fact("input-left-out", raw) for raw in places)}

    def derived(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor]) -> None:
        """The user was given a derivative, be it by what the outputs do not depend on."""
        here, nodes = self._frames.here(), list(graph.walk(outputs))
        leaves = {id(leaf) for leaf in graph.leaves(nodes)}
        if leaves.isdisjoint(map(id, inputs)) and set(nodes).isdisjoint(graph.starts(inputs)):
            self._left_out[here] = self._left_out.get(here, True) and self._depend_on_none(nodes, leaves, inputs)
        elif not all(map(_is_whole, inputs)):
            self._used.add(here)

    def _depend_on_none(self, nodes: list[graph.Node], leaves: set[int], inputs: list[torch.Tensor]) -> bool:
        """Whether a graph is made of what is trained and of indices alone, and of nothing that inputs were made of."""
        made = list(graph.operations(nodes))
        calls = self._sources.taken(made)
        alone = len(calls) == len(made) and not any(call.bare for call in calls.values())
        behind = {id(leaf) for leaf in graph.leaves(graph.walk(inputs))}.union(*map(self._sources.behind, inputs))
        owned = set[int]().union(*self._taps.owned)
        return bool(made) and alone and leaves <= owned and leaves.isdisjoint(behind)


def _is_whole(tensor: torch.Tensor) -> bool:
    return bool((tensor.detach() == tensor.detach().round()).all())
