"""The readings in which losses are kept apart: a backward leaves no gradient in parameters that it is not to train."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps, parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch


class Separate(Listener):
    """Puts back, after each backward, the gradients of parameters of optimizers that the call is not to train."""

    def __init__(self, taps: Taps, keeps_out: Callable[[Call, int], bool]) -> None:
        self._taps = taps
        self._keeps_out = keeps_out

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        owners = {id(p): i for i, optimizer in enumerate(self._taps.optimizers) for p in parameters(optimizer)}
        kept: list[tuple[torch.Tensor, torch.Tensor | None]] = []
        with quiet():
            for variable in graph.leaves(graph.walk(call.roots)):
                owner = owners.get(id(variable))
                if owner is not None and self._keeps_out(call, owner):
                    kept.append((variable, None if variable.grad is None else variable.grad.clone()))

        def restore() -> None:
            for variable, gradient in kept:
                variable.grad = gradient

        call.cleanups.append(restore)


def of_other_segments(segments: tuple[tuple[int, ...], ...]) -> Callable[[Call, int], bool]:
    """Each call trains the optimizers that step in its segment alone; `segments` are those, by the call's number."""

    def keeps_out(call: Call, owner: int) -> bool:
        return call.index < len(segments) and owner not in segments[call.index]

    return keeps_out
