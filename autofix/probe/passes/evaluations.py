"""Which closures compute their loss from what their evaluation before left, within one step."""

from __future__ import annotations

from typing import Any

import torch

from ..engine import graph
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

_TWO = 2


class Evaluations(Listener):
    """Looks in the graph of a closure's loss for nodes that an earlier evaluation in the same step made.

    L-BFGS, and what looks along a line, compares the losses of several evaluations: each has to start from the same.
    What was made before the step is the same for all of them.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._begun: list[int] = []
        """The ages of the graph at which the evaluations of the step that is going on began."""
        self._seen: dict[Raw, None] = {}

    def told(self) -> dict[str, Any]:
        """The backward calls of such losses."""
        return {"facts": tuple(self._frames.fact("evaluation-goes-on", raw) for raw in self._seen)}

    def evaluate(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._begun.append(graph.now())

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._begun.clear()

    def backward(self, call: Call) -> None:
        if len(self._begun) < _TWO or call.stack in self._seen:
            return
        first, last = self._begun[0], self._begun[-1]
        nodes = graph.walk(call.roots, graph.since(last))
        if any(first <= age < last for age in graph.ages(nodes)):
            self._seen[call.stack] = None
