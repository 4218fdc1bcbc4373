"""Gives each worker of this machine a core of its own, whichever batch or cluster it belongs to.

A run that has one core starts one thread and one run at a time: side by side, many such workers do more than
workers that each believe to have the whole machine.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import psutil

from autofix.core.own import cores

if sys.platform != "win32":
    import fcntl

_BINDS = hasattr(os, "sched_setaffinity")


def count(memory: int) -> int:
    """How many targets this machine can run at once: one a core, as long as their memory is there."""
    return max(1, min(cores(), psutil.virtual_memory().available // memory) if memory else cores())


class Core:
    """A core that is ours until this is closed; none where all are taken or the system does not bind."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._file: BinaryIO | None = None
        for number in sorted(os.sched_getaffinity(0)) if _BINDS else ():
            if (file := _claimed(number)) is not None:
                self.number, self._file = number, file
                return

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    @contextlib.contextmanager
    def bound(self) -> Iterator[None]:
        """What this thread starts within the context stays on the core."""
        if self.number is None:
            yield
            return
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.number})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)


def _claimed(number: int) -> BinaryIO | None:
    """The lock of a core, held; None where somebody else holds it."""
    path = Path(tempfile.gettempdir(), f"autofix-core-{os.getuid()}-{number}")
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(path.open("ab"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        stack.pop_all()
        return file
