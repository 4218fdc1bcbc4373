"""Steps that run their closure over and over: they end after some iterations, or no step would ever be compared."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..engine.taps import Listener

_EVALUATIONS = 5 / 4
"""Of a closure, by iteration: what L-BFGS allows itself where nothing else is said."""


class Closures(Listener):
    """Holds an optimizer such as L-BFGS with `max_iter=50000`, whose first step is the whole training, to `most`."""

    def __init__(self, most: int, note: Callable[[str], None]) -> None:
        self._most, self._note = most, note

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            if group.get("max_iter", 0) > self._most:
                name = type(optimizer).__name__
                self._note(f"each step of {name} was ended after {self._most} of its {group['max_iter']} iterations")
                group["max_iter"] = self._most
                group["max_eval"] = min(group.get("max_eval") or 0, int(self._most * _EVALUATIONS))
