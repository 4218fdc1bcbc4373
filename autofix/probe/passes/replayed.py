"""Whether losses take what a network gave in an earlier pass, while its inputs of then are at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .. import wire
from ..engine import graph
from ..engine.sources import DataSources
from ..engine.taps import Call
from ..program.frames import Frames, Raw

_TWICE = 2


class Replayed:
    """Looks for outputs that come to a loss of a later pass beside the data that they were computed from.

    What the parameters that made them are applied to again is a state. Of the rest, data of the earlier pass go through
    parameters once more in this one, so that the program keeps them, but not through all those that made the output:
    a memory of trajectories has their actions and their log-probabilities, and only another network reads them anew.
    Where all are applied anew, what was stored is what the new is compared with.
    """

    def __init__(self, frames: Frames, sources: DataSources) -> None:
        self._frames, self._sources = frames, sources
        self._passes: Counter[Raw] = Counter()

    def told(self) -> tuple[wire.Fact, ...]:
        """The places where several passes had such an output."""
        places = (raw for raw, times in self._passes.items() if times >= _TWICE)
        return tuple(self._frames.fact("output-replayed", raw) for raw in places)

    def watch(self, call: Call, walked: list[graph.Node], old: list[graph.Node], began: int) -> None:
        """A backward is about to reach `old` nodes of earlier passes; what is older than `began` was there before."""
        if not call.accumulate:
            return
        again = graph.applied_again(walked, old, alike=False)
        outputs = [one for one in old if one not in again]
        behind = list(graph.walk_nodes(outputs))
        read = self._reading(behind)
        origins = {age for ages in read.values() for age in ages if age >= began}
        above = graph.leading(walked, outputs) | {*behind, *old}  # a state read its data in its own pass
        beside = [node for node in walked if node not in above]
        anew = [node for node, ages in self._reading(beside).items() if not origins.isdisjoint(ages)]
        applied = _applied(graph.leading(beside, anew) | set(anew))
        given = [node for node, ages in read.items() if not origins.isdisjoint(ages)]
        made = _applied(graph.leading(behind, given) | set(given))
        self._passes[call.stack] += bool(applied and made - applied)

    def _reading(self, nodes: list[graph.Node]) -> dict[graph.Node, frozenset[int]]:
        """Those of the nodes that took data, with the ages at which these were made."""
        return {node: one.origins for node, one in self._sources.taken(nodes).items() if one.origins}


def _applied(nodes: Iterable[graph.Node]) -> set[int]:
    return {leaf for leaf, _ in graph.applied(nodes)}
