"""When a run has shown enough: a number of steps beyond the failure, where they can be had in a moment; else fewer."""

from __future__ import annotations

import _thread
import math
import signal
import threading
import time
from collections.abc import Callable

import torch

from ..engine.taps import Call, Listener, Taps
from ..fence import usage
from ..wire import Request

ENOUGH = 20
"""Steps beyond the failure that are compared where they take a moment: a number, for any machine has the same then."""
MOST = 60
"""Steps of one optimizer after which others need not come so far: rounding of reordered sums grows with each step."""
LEAST = 2
"""Steps beyond the failure without which nothing was compared: one alone shows no carried graph and no stale one."""
_NEVER = 200
"""Steps of another optimizer beyond the failure after which one that has made none at all is taken to make none."""
_WAITING = 2.0
"""A budget counts the time that the script computes; of time in which it waits it may have this many times as much."""
_LOOK = 0.25
_LATE = 0.5
"""Seconds of computing for which a run that has used its budget up may still come to its next event: what it tells
between two events is as it was long before."""
_IN_VAIN = 1.0
"""Seconds of computing for which a run waits in vain, from which on others do not wait as long."""
_TOO_MANY = 4
"""How many times the backward calls of its reference a run may make: an edit may have taken a step away."""


class Stopper(Listener):
    """Ends the run at a step or a backward. Counts are (backward calls, steps of optimizer 0, of optimizer 1, ...).

    A run that leads (`failed_at`) chooses where it ends; one that follows (`stop_at`) ends there. Where time ends a run
    between two events, what it tells is as it was at the event that made `LEAST` steps: `mark` keeps that. So it is
    where a run waited for optimizers that then made no step, as those of target networks that nobody trains, or of a
    phase that is over: all that follow would wait as long.
    """

    def __init__(
        self, request: Request, taps: Taps, stop: Callable[[], None],
        mark: Callable[[], None], stop_at_mark: Callable[[], None],
    ) -> None:  # fmt: skip
        self._request, self._taps, self._stop, self._mark = request, taps, stop, mark
        self._began = time.monotonic()
        self._pace = _Pace(request)
        self._budget = _Budget(request)
        self._marked = False
        self._waits_for: frozenset[int] = frozenset()
        """The optimizers that have made no step since the failure, while all others have made enough."""
        self._waits_since = 0.0
        if request.budget and request.failed_at:
            _Watch(self._overdue, stop_at_mark).start()

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._consider()

    def backward_done(self, call: Call) -> None:
        if not self._taps.counts or self._lost():
            self._consider()

    def _consider(self) -> None:
        spent = time.monotonic() - self._began
        enough = self._reached() or self._lost() if self._request.stop_at else self._passed()
        if enough or self._goes_on() or spent > 0.8 * self._request.time_limit:
            self._stop()

    @property
    def past(self) -> float:
        """Seconds for which the run has gone on beyond the failure."""
        return self._budget.passed

    @property
    def hurried(self) -> bool:
        """Whether a run that leads has not come as far as it would with more time."""
        return self._is_past() and not self._beyond(self._request.passes)

    def waited_in_vain(self) -> bool:
        """Whether the run went on for optimizers alone that made no step after all, and that took long."""
        idle = self._waits_for and not any(self._made()[index] for index in self._waits_for)
        return bool(idle) and time.process_time() - self._waits_since > _IN_VAIN

    def _overdue(self) -> bool:
        """Whether the time is over, wherever the run is; asked from another thread."""
        if not self._is_past():
            return False
        self._budget.begin()
        return self._budget.over(least=self._marked, late=_LATE)

    def _reached(self) -> bool:
        backwards, *steps = self._request.stop_at
        if not steps:
            return self._taps.calls >= backwards
        counts = self._taps.counts
        return len(counts) >= len(steps) and all(have >= want for have, want in zip(counts, steps, strict=False))

    def _lost(self) -> bool:
        """Whether it made so many backward calls that it will not come to the steps at which it is to end."""
        return bool(self._request.stop_at) and self._taps.calls >= _TOO_MANY * self._request.stop_at[0] + MOST

    def _goes_on(self) -> bool:
        """Whether it made so many more steps than its reference, which ended, that it differs whatever it comes to."""
        return any(have > most for have, most in zip(self._taps.counts, self._request.most, strict=False))

    def _is_past(self) -> bool:
        return bool(self._request.failed_at) and self._taps.calls >= self._request.failed_at[0]

    def _passed(self) -> bool:
        """Beyond the failure by `passes` steps of each optimizer (or backwards); by `ENOUGH` where these take a moment.

        Or by `LEAST` of those that the failure concerns, where the budget is used up.
        """
        if not self._is_past():
            return False
        self._budget.begin()
        self._pace.count(self._fewest(self._request.concerned))
        if self._beyond(self._request.passes) and (self._has_enough() or not self._pace.quick):
            return True
        least = self._beyond(LEAST, self._request.concerned)
        if least and self._budget.over(least=True):
            return True
        if least and not self._marked and self._request.budget and not self._beyond(self._request.passes):
            self._marked = True
            self._mark()
        self._wait()
        return False

    def _has_enough(self) -> bool:
        """Whether those that the failure concerns have made enough steps, or one of them has made the most."""
        enough = max(self._request.passes, ENOUGH)
        return self._beyond(enough, self._request.concerned) or max(self._made(), default=0) >= max(enough, MOST)

    def _wait(self) -> None:
        """Keep what is known where all have made enough but those that have made no step since the failure."""
        made = self._made()
        idle = frozenset(index for index, count in enumerate(made) if not count)
        others = tuple(index for index in range(len(made)) if index not in idle)
        if idle and others and idle != self._waits_for and self._beyond(self._request.passes, others):
            self._waits_for, self._waits_since = idle, time.process_time()
            self._mark()

    def _made(self) -> list[int]:
        """The steps that each optimizer has made since the failure."""
        before = self._request.failed_at[1:]
        return [have - (before[index] if index < len(before) else 0) for index, have in enumerate(self._taps.counts)]

    def _beyond(self, passes: int, optimizers: tuple[int, ...] = ()) -> bool:
        return self._fewest(optimizers) >= passes

    def _fewest(self, optimizers: tuple[int, ...]) -> int:
        """The steps since the failure of the one that made fewest, of these or of all; backwards where none steps."""
        counts = self._taps.counts
        if not counts:
            return self._taps.calls - self._request.failed_at[0]
        made = self._made()
        asked = [index for index in optimizers if index < len(counts)] or range(len(counts))
        return min((made[index] for index in asked if not self._never(index, max(made))), default=max(made))

    def _never(self, index: int, most: int) -> bool:
        """Whether an optimizer makes no step: others that do own all that it owns, or made many since the failure."""
        owned, counts = self._taps.owned, self._taps.counts
        if counts[index] or most < self._request.passes:
            return False
        others = set().union(*(mine for mine, count in zip(owned, counts, strict=True) if count))
        concerned = not self._request.concerned or index in self._request.concerned
        return owned[index] <= others or (most >= _NEVER and not concerned)


class _Watch:
    """Has the main thread do something between two of its instructions, when it is due.

    Not by an alarm: there is one for each process, and a script may want it. Nor by a thread that the script could
    find: one that joins all of its threads would never end.
    """

    _SIGNAL = signal.SIGPROF

    def __init__(self, due: Callable[[], bool], act: Callable[[], None]) -> None:
        self._due = due
        self._main = threading.get_ident()
        self._heard = lambda *_: act()
        signal.signal(self._SIGNAL, self._heard)

    def start(self) -> None:
        """From now on."""
        _thread.start_new_thread(self._wait, ())

    def _wait(self) -> None:
        while True:
            time.sleep(_LOOK)
            if self._due():
                if signal.getsignal(self._SIGNAL) is not self._heard:  # the script has a use for it
                    return
                signal.pthread_kill(self._main, self._SIGNAL)


class _Pace:
    """How long a pass takes: the quickest, so that neither an import nor what else the machine does decides."""

    def __init__(self, request: Request) -> None:
        self._grace, self._threads = request.grace, max(1, request.threads)
        self._began = self._latest = 0.0
        self._passes, self._quickest = 0, math.inf

    def count(self, passes: int) -> None:
        """So many are over now; the first may have begun before the failure."""
        now = time.process_time()
        self._began = self._began or now
        if passes > self._passes:
            if self._passes:
                self._quickest = min(self._quickest, now - self._latest)
            self._passes, self._latest = passes, now

    @property
    def quick(self) -> bool:
        """Whether `ENOUGH` of them take a moment, and that is not over: an evaluation may lie between two."""
        quickest = 0.0 if self._quickest == math.inf else self._quickest
        return max(ENOUGH * quickest, self._latest - self._began) < self._grace * self._threads


class _Budget:
    """The time that a run may take beyond the failure: of its own, so that a busy machine does not shorten it."""

    def __init__(self, request: Request) -> None:
        self._seconds = request.budget + request.lead if request.budget else 0.0
        self._longest = max(request.budget, request.longest) + request.lead
        self._threads = max(1, request.threads)
        self._began: tuple[float, float] | None = None

    def begin(self) -> None:
        """The failure is past, from here on or since earlier."""
        self._began = self._began or (time.process_time(), _undisturbed())

    @property
    def passed(self) -> float:
        """Seconds since it began, without those in which others used its core."""
        return _undisturbed() - self._began[1] if self._began is not None else 0.0

    def over(self, *, least: bool, late: float = 0.0) -> bool:
        """Whether it was used up `late` seconds ago; `least`: what it takes to compare anything was done."""
        if self._began is None or not self._seconds:
            return False
        most = (self._seconds if least else self._longest) + late
        computed = (time.process_time() - self._began[0]) / self._threads
        return computed > most or self.passed > _WAITING * most


def _undisturbed() -> float:
    """A clock that stands still while this process waits for a core."""
    return time.monotonic() - usage.queued()
