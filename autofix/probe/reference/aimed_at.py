"""Targets that lead a backward to what another one would have freed, wherever in a run that is."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.taps import Call, Listener, Taps
from ..instruments.aimed import Graph, spoiled_aims, targets
from ..instruments.aims import Aims, Held
from ..program.frames import Frames, Raw

_KEPT = 8


class _Done(NamedTuple):
    """A backward call that frees its graph, and what it holds against each other."""

    whole: Graph
    held: list[tuple[Raw, Held]]


class AimedAt(Listener):
    """Holds each backward call against the latest ones before it that keep no graph.

    A failure shows the first of such calls alone; an edit that cures it may meet, and keep, the next.
    """

    def __init__(self, frames: Frames, taps: Taps, aims: Aims) -> None:
        self._frames, self._taps, self._aims = frames, taps, aims
        self._done: list[_Done] = []
        self._found: dict[tuple[Raw, str], None] = {}

    def told(self) -> dict[str, Any]:
        """The places of the losses."""
        return {"facts": tuple(self._frames.fact("loss-trains-target", *one) for one in self._found)}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        whole = Graph.of(call.roots, self._taps.owned)
        this = _Done(whole, list(self._aims.placed(whole.edges)))
        for done in self._done:
            shared = whole.names.keys() & done.whole.names.keys()
            for one in (this, done) if shared else ():
                for raw, held in one.held:
                    aims = targets(one.whole, held, shared)
                    found = spoiled_aims(one.whole, aims, shared, alone=False)
                    self._found |= dict.fromkeys((raw, aim.argument) for aim in found)
        if not call.keep:
            self._done = [*self._done[1 - _KEPT :], this]
