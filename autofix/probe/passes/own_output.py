"""Whether a network is fed with what it gave in the pass before, in place of the data that it began with."""

from __future__ import annotations

from typing import Any

from .. import wire
from ..engine import graph
from ..engine.sources import DataSources, Taken
from ..engine.taps import Call
from ..program.frames import Frames, Raw

_SEVERAL = 2
"""Passes after the first that must show it."""
_ADDS = frozenset((
    "add", "radd", "iadd", "sub", "rsub", "isub", "cat", "concat", "concatenate", "hstack", "vstack", "column_stack",
    "stack", "where", "lerp", "setitem", "copy",
))  # fmt: skip
"""What puts values beside or on others: to a network both are its input. All else scales, picks or mixes values."""
_PICKS = frozenset((
    "getitem", "index_select", "gather", "take", "masked_select", "matmul", "rmatmul", "mm", "bmm", "einsum",
))  # fmt: skip
"""What is done with data to an output that is not yet held against what it should be."""


class OwnOutput:
    """Looks, in each pass of a site, at the data that goes into its graph beside what an earlier pass handed on.

    A network is fed with its own output where its first pass read data, and each later one reads nothing in its place
    but what the pass before handed on. All of that goes through parameters once more, and the loss holds it against
    the same data again. A recurrence reads something of its own in each pass, or begins with zeros. The state of a
    simulation also moves on past its network. What changes from pass to pass makes each pass another one. Where a pass
    begins anew, what others hand on is a state.
    """

    def __init__(self, frames: Frames, sources: DataSources) -> None:
        self._frames, self._sources = frames, sources
        self._seen: dict[Raw, set[Any]] = {}
        """The data that the passes of each site took so far."""
        self._passes: dict[Raw, int] = {}
        """How many passes of a site were fed so, or began; -1: one was otherwise."""

    def told(self) -> tuple[wire.Fact, ...]:
        """The sites at which each pass but the first was fed so."""
        sites = (site for site, passes in self._passes.items() if passes > _SEVERAL)
        return tuple(self._frames.fact("own-output-read", site) for site in sites)

    def watch(self, call: Call, old: list[graph.Node], fresh: list[graph.Node]) -> None:
        """A backward is about to go through `fresh` nodes, and to reach `old` ones of earlier passes."""
        passes = self._passes.get(call.stack, 0)
        if passes < 0 or not call.accumulate:
            return
        taken = self._sources.taken(fresh)
        layers = {node for node, one in taken.items() if one.layer}
        inputs, others = _split(taken, set(graph.walk_nodes(layers)))
        data = {number for one in (*inputs, *others) for number in one.data}
        seen = self._seen.setdefault(call.stack, set())
        if passes <= 1 and not old:  # also where another phase, or another batch, came before the first that hands on
            self._passes[call.stack] = int(any(one.layer and one.floating for one in inputs))
            self._seen[call.stack] = data
            return
        same = passes == 1 or data <= seen  # what a first layer needs beside data has no graph in the first pass
        held = any(one.name not in _PICKS for one in others)
        fed = bool(passes and old) and same and held and not inputs and not _passes_by(call, layers, set(old))
        self._passes[call.stack] = passes + 1 if fed else -1
        seen |= data


def _split(taken: dict[graph.Node, Taken], within: set[graph.Node]) -> tuple[set[Taken], set[Taken]]:
    """The calls that give data to a network as its input, and all others that take data."""
    calls = {node: one for node, one in taken.items() if one.data}
    inputs = {one for node, one in calls.items() if one.layer or (one.name in _ADDS and node in within)}
    return inputs, set(calls.values()) - inputs


def _passes_by(call: Call, layers: set[graph.Node], old: set[graph.Node]) -> bool:
    """Whether anything that an earlier pass handed on comes to the loss without going through a parameter."""
    return not old.isdisjoint(graph.walk(call.roots, lambda node: node not in layers and node not in old))
