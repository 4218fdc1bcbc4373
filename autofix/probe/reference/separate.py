"""The separated reading: a backward leaves gradient only in parameters whose optimizers step in its segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener, Taps, parameters

if TYPE_CHECKING:
    import torch


class Separate(Listener):
    """Puts back, after each backward, the gradients of parameters that belong to optimizers of other segments."""

    def __init__(self, taps: Taps, segments: tuple[tuple[int, ...], ...]) -> None:
        self._taps = taps
        self._segments = segments

    def backward(self, call: Call) -> None:
        if not call.accumulate or call.index >= len(self._segments):
            return
        owners = {id(p): i for i, optimizer in enumerate(self._taps.optimizers) for p in parameters(optimizer)}
        kept: list[tuple[torch.Tensor, torch.Tensor | None]] = []
        with quiet():
            for node in graph.walk(call.roots):
                variable = graph.leaf(node)
                owner = owners.get(id(variable)) if variable is not None else None
                if variable is not None and owner is not None and owner not in self._segments[call.index]:
                    kept.append((variable, None if variable.grad is None else variable.grad.clone()))

        def restore() -> None:
            for variable, gradient in kept:
                variable.grad = gradient

        call.cleanups.append(restore)
