"""When a run is known to differ: it ends where the gradients that steps used have left those of every reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..engine.taps import Listener
from ..wire import Step

FAR = 1e-3
"""Relative; hundreds of times what a comparison lets pass, so that none could find the run equal."""
_ROUNDING = 1e-6
"""Beside the largest gradient of a step, a smaller one may be what rounding left: the comparison looks closer."""


class Parting(Listener):
    """Ends a run early. `expected` has the first steps of each reference, `steps` those that the witness has seen."""

    def __init__(self, expected: tuple[tuple[Step, ...], ...], steps: list[Step], stop: Callable[[], None]) -> None:
        self._expected, self._steps, self._stop = expected, steps, stop
        self._parted = False

    def told(self) -> dict[str, Any]:
        """Whether it has ended the run."""
        return {"parted": self._parted}

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if all(_apart(reference, self._steps) for reference in self._expected):
            self._parted = True
            self._stop()


def _apart(reference: tuple[Step, ...], steps: list[Step]) -> bool:
    for index in {step.optimizer for step in reference}:
        wanted, got = ([step for step in those if step.optimizer == index] for those in (reference, steps))
        for want, have in zip(wanted, got, strict=False):
            if len(want.gradients) != len(have.gradients):
                return True
            pairs = list(zip(want.gradients, have.gradients, strict=True))
            least = _ROUNDING * max((abs(one[0]) for pair in pairs for one in pair if one), default=0.0)
            if any(_far(*pair) for pair in pairs if not (all(pair) and max(pair[0][0], pair[1][0]) <= least)):
                return True
    return False


def _far(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two sketches are of different tensors; no sketch is one of zeros."""
    width = max(len(one), len(other))
    pairs = list(zip(one or (0.0,) * width, other or (0.0,) * width, strict=True))
    return any(abs(a - b) > FAR * max(map(abs, pairs[0])) for a, b in pairs)
