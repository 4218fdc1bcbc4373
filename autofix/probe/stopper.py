"""When a run has shown enough: a number of passes beyond the failure, the same for all runs that are compared."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .taps import Call, Listener, Taps

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from .wire import Request


MOST = 60
"""Passes beyond the failure after which no run goes on: rounding of reordered sums grows from step to step."""
_TOO_MANY = 4
"""How many times the backward calls of its reference a run may make: an edit may have taken a step away."""


class Stopper(Listener):
    """Ends the run at a step or a backward. Counts are (backward calls, steps of optimizer 0, of optimizer 1, ...)."""

    def __init__(self, request: Request, taps: Taps, stop: Callable[[], None]) -> None:
        self._request = request
        self._taps = taps
        self._stop = stop
        self._began = time.monotonic()
        self._passed_at = 0.0

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._consider()

    def backward_done(self, call: Call) -> None:
        if not self._taps.counts or self._lost():
            self._consider()

    def _consider(self) -> None:
        spent = time.monotonic() - self._began
        enough = self._reached() or self._lost() if self._request.stop_at else self._passed()
        if enough or spent > 0.8 * self._request.time_limit:
            self._stop()

    def _reached(self) -> bool:
        backwards, *steps = self._request.stop_at
        if not steps:
            return self._taps.calls >= backwards
        counts = self._taps.counts
        return len(counts) >= len(steps) and all(have >= want for have, want in zip(counts, steps, strict=False))

    def _lost(self) -> bool:
        """Whether it made so many backward calls that it will not come to the steps at which it is to end."""
        return bool(self._request.stop_at) and self._taps.calls >= _TOO_MANY * self._request.stop_at[0] + MOST

    def _passed(self) -> bool:
        """Beyond the failure by `passes` steps of each optimizer (or backwards), and by a moment of time or `MOST`."""
        if not self._request.failed_at or self._taps.calls < self._request.failed_at[0]:
            return False
        self._passed_at = self._passed_at or time.process_time()
        # Of this process, so that a busy machine does not shorten what is compared.
        early = time.process_time() - self._passed_at < self._request.grace
        return self._beyond(max(self._request.passes, MOST) if early else self._request.passes)

    def _beyond(self, passes: int) -> bool:
        backwards, *steps = self._request.failed_at
        counts = self._taps.counts
        if not counts:
            return self._taps.calls >= backwards + passes
        before = steps + [0] * (len(counts) - len(steps))
        return all(have >= had + passes for have, had in zip(counts, before, strict=True))
