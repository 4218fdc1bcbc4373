"""The reading in which a gradient is sent on once: not by one call, and by another that starts where it passed."""

from __future__ import annotations

from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.resent import Resent, sends_the_same
from ..engine.sketch import is_zero
from ..engine.taps import Call, Listener
from ..program.frames import Raw


class SentOnce(Listener):
    """Lets a backward call send zeros where an earlier one has sent on the same gradient from the same tensor.

    So does one that starts from the loss of an earlier one, at another place, before any step. Not where a part of what
    the earlier one left is gone: there this call is the one that counts, and none is told. Nor is any where one place
    starts from a loss again: the loss may be meant to be made anew in each turn.
    """

    def __init__(self) -> None:
        self._resent = Resent()
        self._started: dict[frozenset[tuple[int, int]], Raw] = {}
        self._times = 0
        self._gone = False

    def told(self) -> dict[str, Any]:
        """How often that was so."""
        return {"facts": [wire.Fact("sent-once", str(0 if self._gone else self._times))]}

    def backward(self, call: Call) -> None:
        if call.outer is not None:
            return
        with quiet():
            nodes = list(graph.walk(call.roots))
            again = self._resent.of(call, graph.ages(nodes)) is not None and sends_the_same(call)
            again |= self._starts_again(call)
            self._gone |= again and any(one.grad is None or is_zero(one.grad) for one in graph.leaves(nodes))
        for node in graph.starts(call.roots) if again else ():
            call.cleanups.append(node.register_prehook(graph.zeros).remove)
        self._times += again

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._started.clear()

    def _starts_again(self, call: Call) -> bool:
        """Whether an earlier call started from the same loss."""
        loss = all(one is None or bool((one == 1).all()) for one in call.gradients)
        if not (loss and call.accumulate) or call.inputs:
            return False
        root = frozenset((node._sequence_nr(), one.output_nr) for one in call.roots if (node := graph.made_by(one)))
        before = self._started.get(root)
        self._started.setdefault(root, call.stack)
        self._gone |= before == call.stack
        return bool(root) and before is not None and before != call.stack
