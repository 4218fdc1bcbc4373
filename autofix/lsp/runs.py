"""Runs the pipeline beside the editor: in a thread, so that the editor is answered meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from autofix import pipeline
from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe
from autofix.experiments.runner import Runner, Stop
from autofix.search.rule import Rule

_MOMENT = 2.0


class RunQueue:
    """The runs of one session with an editor, one at a time."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._runner = Runner()
        self._asked: set[Stop] = set()

    async def fix(
        self, target: Target, rules: Sequence[Rule], tell: Callable[[str], None], stop: Stop
    ) -> Report | None:  # fmt: skip
        """The report of a run, None if it was given up. `tell` is called in the loop."""
        loop = asyncio.get_running_loop()
        self._asked.add(stop)
        try:
            async with self._turn:
                told = _teller(loop, tell)

                def repair(probe: Probe) -> Report:
                    report = pipeline.fix(target, rules, probe=probe, progress=told)
                    if report.outcome is not Outcome.CLEAN or not any(one.sure for one in report.suspicions):
                        return report
                    mended = pipeline.audit(target, mend=True, probe=probe, progress=told)
                    return replace(report, fixes=mended.fixes)

                work = loop.run_in_executor(None, self._runner.run, target, repair, told, stop)
                try:
                    return await asyncio.shield(work)
                except asyncio.CancelledError:
                    stop.set()
                    with contextlib.suppress(Exception):
                        await work
                    return None  # pygls takes a task that was cancelled for a fault
        finally:
            self._asked.discard(stop)

    async def end(self) -> None:
        """Give up every run, also those that wait for their turn, and end every probe when none is in use."""
        self._give_up()
        async with self._turn:
            self.close()

    def close(self) -> None:
        """End every run and every probe; what does not end in a moment is killed."""
        self._give_up()
        self._runner.close(_MOMENT)

    def _give_up(self) -> None:
        for stop in [*self._asked]:
            stop.set()


def _teller(loop: asyncio.AbstractEventLoop, tell: Callable[[str], None]) -> Callable[[str], None]:
    def told(text: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody listens
            loop.call_soon_threadsafe(tell, text)

    return told
