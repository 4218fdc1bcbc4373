"""Runs work on probes that stay warm: one at a time, until another thread stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe, ProbeError
from autofix.experiments.warm import Warm
from autofix.probe import wire
from autofix.probe.codec import WireError


class Stopped(ProbeError):  # noqa: N818 - what somebody asked for is no error
    """The run was given up; nothing is known."""


class Stop(threading.Event):
    """Gives up work from another thread: `set` ends the work that was handed it, or keeps it from beginning."""

    def __init__(self) -> None:
        super().__init__()
        self._probe: Stoppable | None = None

    def set(self) -> None:
        super().set()
        probe = self._probe
        if probe is not None and probe.serves(self):
            probe.end()

    def reach(self, probe: Stoppable | None) -> None:
        """From now on the work is done by this probe; by None: it has ended."""
        self._probe = probe


class Stoppable(Probe):
    """A probe whose runs another thread may end."""

    def __init__(self, python: Path, modules: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        super().__init__(python, modules, environment)
        self._guard = threading.Lock()
        self._stop = Stop()
        self._submitted: list[int] = []

    def begin(self, stop: Stop) -> None:
        """Serve work that lasts until `stop` is set."""
        with self._guard:
            self._stop = stop
            self._submitted.clear()

    def serves(self, stop: Stop) -> bool:
        return self._stop is stop

    def submit(self, request: wire.Request) -> int:
        """Begin a run; raises Stopped where all were given up."""
        with self._guard:
            if self._stop.is_set():
                raise Stopped("stopped")
            number = super().submit(request)
            self._submitted.append(number)
            return number

    def end(self) -> None:
        """End what runs now."""
        with self._guard:
            for number in self._submitted:
                self.cancel(number)


class Runner:
    """The probes of one session, one for each interpreter, and whose turn it is. Any thread may use it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._warm = Warm(Stoppable)

    def run(
        self, target: Target, work: Callable[[Probe], Report], tell: Callable[[str], None], stop: Stop
    ) -> Report | None:  # fmt: skip
        """The report of some work on a probe for `target`, None if it was stopped. `tell` is called in this thread."""
        with self._turn:
            served = self._warm.holds(target)
            report = self._attempt(target, work, tell, stop)
            if served and report.outcome is Outcome.CANNOT_RUN and not stop.is_set():
                report = self._attempt(target, work, tell, stop)  # the warm probe had died since it last served
            return None if stop.is_set() else report

    def close(self, patience: float = -1) -> None:
        """End every probe, after the work under way; `patience`: the seconds that it may still take."""
        held = self._turn.acquire(timeout=patience)
        try:
            self._warm.close()
        finally:
            if held:
                self._turn.release()

    def _attempt(
        self, target: Target, work: Callable[[Probe], Report], tell: Callable[[str], None], stop: Stop
    ) -> Report:  # fmt: skip
        if not self._warm.holds(target):
            tell("starting Python with torch")
        try:
            probe = self._warm.probe(target)
        except ProbeError as error:
            return Report(target, Outcome.CANNOT_RUN, message=str(error))
        except WireError as error:
            return unanswered(target, error)
        probe.begin(stop)
        stop.reach(probe)
        try:
            report = work(probe)
        except WireError as error:
            report = unanswered(target, error)
        finally:
            stop.reach(None)
        if report.outcome is Outcome.CANNOT_RUN and not stop.is_set():
            self._warm.drop(target)
        return report


def unanswered(target: Target, error: WireError) -> Report:
    """The report where what was started is no Python at all and answers something else."""
    reason = f"{target.python} does not answer as a Python with torch would ({error}); give another with --python"
    return Report(target, Outcome.CANNOT_RUN, message=reason)
