"""Which derivatives of one forward by its inputs have no graph, beside others of the same forward that have one."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw

_LATEST = 16
_TWICE = 2


class Slopes(Listener):
    """Looks at each derivative by what optimizers do not own: is another one made of the same operations?

    A derivative by parameters, or by what is made of them, is an inner step, a weight of a term, or part of an update.
    """

    def __init__(self, frames: Frames, taps: Taps) -> None:
        self._frames, self._taps = frames, taps
        self._latest: deque[tuple[Raw, bool, set[int]]] = deque(maxlen=_LATEST)
        """The latest such derivatives: where, whether with a graph, and the ages of what they went through."""
        self._constant = Counter[Raw]()

    def told(self) -> dict[str, Any]:
        """The places of several passes at which such a derivative has no graph."""
        places = (raw for raw, times in self._constant.items() if times >= _TWICE)
        return {"facts": tuple(self._frames.fact("slope-without-graph", raw) for raw in places)}

    def backward_done(self, call: Call) -> None:
        if call.accumulate or call.outer is not None:
            return
        with quiet():
            owned, behind = set[int]().union(*self._taps.owned), graph.leaves(graph.walk(call.inputs))
            if not owned.isdisjoint(map(id, (*call.inputs, *behind))):
                return
            ages = graph.ages(graph.walk(call.roots))
        beside = [(raw, create) for raw, create, others in self._latest if not ages.isdisjoint(others)]
        self._latest.append((call.stack, call.create, ages))
        if any(create is not call.create for _, create in beside):
            self._constant.update({call.stack} if not call.create else {raw for raw, create in beside if not create})
