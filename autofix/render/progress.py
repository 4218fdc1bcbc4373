"""Says on standard error what is being run, while it runs: nothing is left of it on a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autofix.render.words import one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SELDOM = 5.0
"""Seconds between two lines on how far one stage has come."""
_PATIENT = 15.0
"""Seconds of silence after which a line is written where nobody asked for lines."""


class Tell:
    """Takes what is told, and says nothing."""

    def __call__(self, text: str) -> None:
        """A stage begins, or has come further."""

    def keep(self, *lines: str) -> None:
        """Something to be shown at once, and until the report says it, where somebody watches."""


def complain(text: str) -> None:
    """Say something on standard error."""
    sys.stderr.write(f"autofix: {one_line(text)}\n")


@contextlib.contextmanager
def progress(*, quiet: bool, verbose: bool) -> Iterator[Tell]:
    """What to tell what begins: a live line on a terminal; elsewhere plain lines, seldom if nobody asked."""
    if quiet:
        yield Tell()
    elif verbose or not sys.stderr.isatty():
        yield _Lines(0.0 if verbose else _PATIENT)
    else:
        with _live() as tell:
            yield tell


class _Lines(Tell):
    def __init__(self, silence: float) -> None:
        self._began = self._said = time.monotonic()
        self._silence = silence
        self._stage = ""
        self._kept: tuple[str, ...] = ()

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        further = bool(self._stage) and text.startswith(self._stage)
        if now - self._said < max(self._silence, _SELDOM if further else 0.0):
            return
        self._said, self._stage = now, self._stage if further else text
        for line in (*self._kept, text):
            sys.stderr.write(f"{now - self._began:6.2f} s  {one_line(line)}\n")
        self._kept = ()

    def keep(self, *lines: str) -> None:
        self._kept = lines


class _Live(Tell):
    def __init__(self, bar: Progress, task: TaskID, above: list[str]) -> None:
        self._bar, self._task, self._above = bar, task, above

    def __call__(self, text: str) -> None:
        self._bar.update(self._task, description=one_line(text))

    def keep(self, *lines: str) -> None:
        self._above[:] = map(one_line, lines)
        self._bar.refresh()


@contextlib.contextmanager
def _live() -> Iterator[Tell]:
    from rich.console import Console, RenderableType  # noqa: PLC0415 - only where someone watches
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    above: list[str] = []

    class Bar(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from (Text(line, no_wrap=True, overflow="ellipsis") for line in above)
            yield from super().get_renderables()

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    console = Console(stderr=True, highlight=False, markup=False)
    with Bar(*columns, console=console, transient=True) as bar:
        yield _Live(bar, bar.add_task("starting", total=None), above)
