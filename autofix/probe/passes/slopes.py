"""Which derivatives of one forward by its inputs have no graph, beside others of the same forward that have one."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

import torch

from ..engine import graph
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps
from ..program.frames import Frames, Raw

_LATEST = 16
_TWICE = 2


class Slopes(Listener):
    """Looks at each derivative by what optimizers do not own: is another one of the same forward?

    A derivative by parameters, or by what is made of them, is an inner step, a weight of a term, or part of an update.
    """

    def __init__(self, frames: Frames, taps: Taps) -> None:
        self._frames, self._taps = frames, taps
        self._latest: deque[_Slope] = deque(maxlen=_LATEST)
        """The latest such derivatives since the last step."""
        self._constant = Counter[tuple[Raw, Raw]]()
        """By the places of one without a graph and of one with: how often they were beside each other."""
        self._plain = set[Raw]()
        """Where some have no graph: one of second order is made of others that have one."""

    def told(self) -> dict[str, Any]:
        """The places of several passes at which such a derivative has no graph."""
        found = self._constant.items()
        places = (raw for (raw, by), times in found if times >= _TWICE and by not in self._plain)
        return {"facts": tuple(self._frames.fact("slope-without-graph", raw) for raw in dict.fromkeys(places))}

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._latest.clear()

    def backward_done(self, call: Call) -> None:
        if call.accumulate or call.outer is not None:
            return
        with quiet():
            owned, behind = set[int]().union(*self._taps.owned), graph.leaves(graph.walk(call.inputs))
            if not owned.isdisjoint(map(id, (*call.inputs, *behind))):
                return
            nodes = list(graph.walk(call.roots))
            trained = owned & {id(leaf) for leaf in graph.leaves(nodes)}
            at = tuple(one.detach() for one in call.inputs)
        new = _Slope(call.stack, call.create, graph.ages(nodes), trained, at)
        if not new.create:
            self._plain.add(new.raw)
        for one in self._latest:
            if one.create is not new.create and new.beside(one):
                plain, other = (one, new) if new.create else (new, one)
                self._constant[plain.raw, other.raw] += 1
        self._latest.append(new)


@dataclass(frozen=True, slots=True)
class _Slope:
    """One derivative: where, whether with a graph, the ages of what it went through, and which parameters; by what."""

    raw: Raw
    create: bool
    ages: set[int]
    trained: set[int]
    at: tuple[torch.Tensor, ...]
    """Held, so that no other memory is taken for it."""

    def beside(self, other: _Slope) -> bool:
        """Whether both went through one forward, or through the same parameters at the same point."""
        same = {storage_key(one) for one in self.at} == {storage_key(one) for one in other.at}
        return not self.ages.isdisjoint(other.ages) or (same and not self.trained.isdisjoint(other.trained))
