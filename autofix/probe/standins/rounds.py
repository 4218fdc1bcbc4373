"""Ends a first run that goes on and on without a failure, where that was asked for."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from ..engine.taps import Listener, Taps

_LEAST = 5.0
"""Seconds that a run may train in any case: what takes no time is not worth ending."""


class Rounds(Listener):
    """Ends the run when each optimizer that steps has made `most` steps, and the first of them was some seconds ago."""

    def __init__(self, most: int, taps: Taps, end: Callable[[str], None]) -> None:
        self._most, self._taps, self._end = most, taps, end
        self._began = 0.0

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._began = self._began or time.monotonic()
        made = [count for count in self._taps.counts if count]
        if min(made) >= self._most and time.monotonic() - self._began >= _LEAST:
            calls, steps = self._taps.calls, sum(made)
            seen = f"it made {calls} backward calls and {steps} optimizer steps without a failure"
            self._end(f"{seen}, and was ended there: --rounds 0 waits for its end")
