"""Runs the pipeline beside the editor: in a thread, so that the editor is answered meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from autofix import pipeline
from autofix.runner import Runner, Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autofix.model import Report, Target
    from autofix.rule import Rule
    from autofix.run import Probe


class Runs:
    """The runs of one session with an editor, one at a time."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._runner = Runner()

    async def fix(
        self, target: Target, rules: Sequence[Rule], tell: Callable[[str], None], stop: Stop
    ) -> Report | None:  # fmt: skip
        """The report of a run, None if it was given up. `tell` is called in the loop."""
        loop = asyncio.get_running_loop()
        async with self._turn:
            told = _teller(loop, tell)

            def repair(probe: Probe) -> Report:
                return pipeline.fix(target, rules, probe=probe, progress=told)

            work = loop.run_in_executor(None, self._runner.run, target, repair, told, stop)
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                stop.set()
                with contextlib.suppress(Exception):
                    await work
                raise

    def close(self) -> None:
        """End every probe."""
        self._runner.close()


def _teller(loop: asyncio.AbstractEventLoop, tell: Callable[[str], None]) -> Callable[[str], None]:
    def told(text: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody listens
            loop.call_soon_threadsafe(tell, text)

    return told
