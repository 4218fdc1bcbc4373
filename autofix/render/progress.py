"""Says on standard error what is being run, while it runs: nothing is left of it on a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from autofix.render.words import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(*, quiet: bool, verbose: bool) -> Iterator[Callable[[str], None]]:
    """A function to tell what begins: a live line on a terminal, plain lines elsewhere when asked for."""
    if quiet or not (verbose or sys.stderr.isatty()):
        yield lambda _text: None
    elif verbose or not sys.stderr.isatty():
        yield _lines()
    else:
        with _live() as tell:
            yield tell


def _lines() -> Callable[[str], None]:
    began = time.monotonic()

    def tell(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - began:6.2f} s  {one_line(text)}\n")

    return tell


@contextlib.contextmanager
def _live() -> Iterator[Callable[[str], None]]:
    from rich.console import Console  # noqa: PLC0415 - only where someone watches
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    console = Console(stderr=True, highlight=False, markup=False)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        count = 0

        def tell(text: str) -> None:
            nonlocal count
            count += 1
            bar.update(task, description=f"{count}. {one_line(text)}")

        yield tell
