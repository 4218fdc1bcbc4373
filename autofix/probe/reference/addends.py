"""The reading in which an addend of several losses is trained once between two steps."""

from __future__ import annotations

import functools
from typing import Any

import torch

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.sketch import is_zero
from ..engine.sums import addends, is_sum
from ..engine.taps import Call, Listener
from ..program.frames import Raw


class Addends(Listener):
    """Trains each addend of a loss once between two steps, by the first backward call at its place that has it.

    What a sum sends to an addend is told from what else reaches it: a gate's result is an addend of a balance loss, and
    a factor of the output. `summed` counts how often an addend was left out later. It is -1 where that could not be
    meant: the gradients that earlier calls left are gone by then, or an addend has another weight than before.
    """

    def __init__(self) -> None:
        self.summed = 0
        self._sent: dict[tuple[Raw, graph.Node], torch.Tensor | None] = {}
        """The gradient that each addend had from the first backward call since the latest step."""
        self._again: dict[tuple[Raw, graph.Node], torch.Tensor | None] = {}
        """What the call that is under way would send to addends that had it before."""
        self._trained: list[torch.Tensor] = []
        """The leaves in which the latest call left a gradient."""

    def told(self) -> dict[str, Any]:
        """How often an addend was left out."""
        return {"summed": self.summed}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        with quiet():
            gone = any(leaf.grad is None or is_zero(leaf.grad) for leaf in self._trained)
        known = set(self._sent)
        self._again = dict.fromkeys(key for node in addends(call.roots) if (key := (call.stack, node)) in known)
        if self._again and gone:
            self.summed = -1
        for node in graph.starts(call.roots):
            if not is_sum(node) and graph.leaf(node) is None:
                hook = functools.partial(self._start, (call.stack, node))
                call.cleanups.append(node.register_prehook(hook).remove)
        for node in graph.walk(call.roots, is_sum):
            if is_sum(node) and (ends := self._ends(call.stack, node)):
                call.cleanups.append(node.register_hook(functools.partial(self._edges, ends)).remove)

    @staticmethod
    def _ends(stack: Raw, node: graph.Node) -> dict[int, tuple[Raw, graph.Node]]:
        """The addends that a sum leads to, by which of its inputs each is."""
        ends = {at: child for at, (child, _) in enumerate(node.next_functions) if child is not None}
        return {
            at: (stack, child) for at, child in ends.items() if not is_sum(child) and graph.leaf(child) is None
        }  # fmt: skip

    def _start(self, key: tuple[Raw, graph.Node], gradients: tuple[torch.Tensor | None, ...]) -> Any:
        again = [self._again_sent(key, one) for one in gradients]
        return graph.zeros(gradients) if any(again) else None

    def _edges(
        self, ends: dict[int, tuple[Raw, graph.Node]], gradients: tuple[torch.Tensor | None, ...], _: Any
    ) -> Any:  # fmt: skip
        again = {at for at, key in ends.items() if self._again_sent(key, gradients[at])}
        if not again:
            return None
        zeros = graph.zeros(gradients)
        return tuple(zeros[at] if at in again else one for at, one in enumerate(gradients))

    def _again_sent(self, key: tuple[Raw, graph.Node], gradient: torch.Tensor | None) -> bool:
        """Add up what an addend is sent; whether an earlier call has sent it."""
        again = key in self._again
        into = self._again if again else self._sent
        if gradient is not None:
            had = into.get(key)
            into[key] = gradient.detach().clone() if had is None else had + gradient
        return again

    def backward_done(self, call: Call) -> None:
        for key, now in self._again.items():
            before = self._sent[key]
            if before is None or now is None or not torch.equal(before, now):
                self.summed = -1
            elif self.summed >= 0:
                self.summed += 1
        self._again = {}
        leaves = graph.leaves(graph.walk(call.roots))
        with quiet():
            self._trained = [leaf for leaf in leaves if leaf.grad is not None and not is_zero(leaf.grad)]

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._sent.clear()
