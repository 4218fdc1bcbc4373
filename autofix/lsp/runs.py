"""Runs the pipeline beside the editor: one run at a time, in a thread, on probes that stay warm, until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING

from autofix import pipeline
from autofix.model import Outcome, Report
from autofix.run import Probe, ProbeError
from autofix.warm import Warm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from autofix.model import Target
    from autofix.probe import wire
    from autofix.rule import Rule


class Stopped(ProbeError):  # noqa: N818 - what somebody asked for is no error
    """The run was given up; nothing is known."""


class Stoppable(Probe):
    """A probe whose runs another thread may end."""

    def __init__(self, python: Path, modules: Sequence[str]) -> None:
        super().__init__(python, modules)
        self._guard = threading.Lock()
        self._given_up = threading.Event()
        self._submitted: list[int] = []

    def begin(self, given_up: threading.Event) -> None:
        """Serve a run that lasts until `given_up` is set."""
        with self._guard:
            self._given_up = given_up
            self._submitted.clear()

    def serves(self, given_up: threading.Event) -> bool:
        return self._given_up is given_up

    def submit(self, request: wire.Request) -> int:
        """Begin a run; raises Stopped where all were given up."""
        with self._guard:
            if self._given_up.is_set():
                raise Stopped("stopped")
            number = super().submit(request)
            self._submitted.append(number)
            return number

    def end(self) -> None:
        """End what runs now."""
        with self._guard:
            for number in self._submitted:
                self.cancel(number)


class Runs:
    """The probes of one session, one for each interpreter, and whose turn it is."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._warm = Warm(Stoppable)
        self._running: Stoppable | None = None

    async def fix(
        self, target: Target, rules: Sequence[Rule], tell: Callable[[str], None], given_up: threading.Event
    ) -> Report | None:  # fmt: skip
        """The report of a run, None if it was given up. `tell` is called in the loop."""
        loop = asyncio.get_running_loop()
        async with self._turn:
            told = _teller(loop, tell)
            work = loop.run_in_executor(None, self._fix, target, rules, told, given_up)
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                self.stop(given_up)
                with contextlib.suppress(Exception):
                    await work
                raise

    def stop(self, given_up: threading.Event) -> None:
        """Give up a run: the one under way, or one that still waits for its turn."""
        given_up.set()
        running = self._running
        if running is not None and running.serves(given_up):
            running.end()

    def close(self) -> None:
        """End every probe."""
        self._warm.close()

    def _fix(
        self, target: Target, rules: Sequence[Rule], tell: Callable[[str], None], given_up: threading.Event
    ) -> Report | None:  # fmt: skip
        served = self._warm.holds(target)
        report = self._attempt(target, rules, tell, given_up)
        if served and report.outcome is Outcome.CANNOT_RUN and not given_up.is_set():
            report = self._attempt(target, rules, tell, given_up)  # the warm probe had died since it last served
        return None if given_up.is_set() else report

    def _attempt(
        self, target: Target, rules: Sequence[Rule], tell: Callable[[str], None], given_up: threading.Event
    ) -> Report:  # fmt: skip
        if not self._warm.holds(target):
            tell("starting Python with torch")
        try:
            probe = self._warm.probe(target)
        except ProbeError as error:
            return Report(target, Outcome.CANNOT_RUN, message=str(error))
        probe.begin(given_up)
        self._running = probe
        try:
            report = pipeline.fix(target, rules, probe=probe, progress=tell)
        finally:
            self._running = None
        if report.outcome is Outcome.CANNOT_RUN and not given_up.is_set():
            self._warm.drop(target)
        return report


def _teller(loop: asyncio.AbstractEventLoop, tell: Callable[[str], None]) -> Callable[[str], None]:
    def told(text: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody listens
            loop.call_soon_threadsafe(tell, text)

    return told
