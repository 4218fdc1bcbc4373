"""Targets that lead a backward to what another one would have freed, wherever in a run that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import wire
from ..engine import graph
from ..engine.taps import Call, Listener
from ..instruments.aimed import Aim, Graph, graph_of, spoiled_aims

if TYPE_CHECKING:
    from ..instruments.aims import Aims
    from ..program.frames import Frames, Raw

_KEPT = 8


class _Done(NamedTuple):
    """A backward call that frees its graph: its nodes by age, and where they lead to."""

    nodes: set[int]
    leads: Graph
    aims: list[tuple[Raw, Aim]]


class AimedAt(Listener):
    """Holds each backward call against the latest ones before it that keep no graph.

    A failure shows the first of such calls alone; an edit that cures it may meet, and keep, the next.
    """

    def __init__(self, frames: Frames, aims: Aims) -> None:
        self._frames, self._aims = frames, aims
        self._done: list[_Done] = []
        self._found: dict[Raw, None] = {}

    def told(self) -> dict[str, Any]:
        """The places of the losses."""
        resolve = self._frames.resolve
        return {"facts": tuple(wire.Fact("loss-trains-target", "-1", resolve(raw)) for raw in self._found)}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        nodes = list(graph.operations(graph.walk(call.roots)))
        edges = [
            (node._sequence_nr(), child._sequence_nr())
            for node in nodes
            for child in graph.operations(graph.children(node))
        ]
        aims = [(raw, Aim(*one)) for raw, one in self._aims.placed(edges)]
        this = _Done(graph.ages(nodes), graph_of(edges), aims)
        for done in self._done:
            shared = this.nodes & done.nodes
            for one in (this, done) if shared else ():
                for raw, aim in one.aims:
                    if any(spoiled_aims(one.leads, [aim], shared, alone=False)):
                        self._found[raw] = None
        if not call.keep:
            self._done = [*self._done[1 - _KEPT :], this]
