"""Owns the process outside the fence that waits for a run and ends as the run ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from .fence import Refused, silence_core

if sys.platform == "linux":
    from . import _linux


def send(pipe: int, kind: bytes, text: str = "") -> None:
    """Tell the waiter how the set-up went: `K` well, `E` why not."""
    with contextlib.suppress(OSError):
        os.write(pipe, kind + text.encode(errors="replace")[:1000])


def stand_by(child: int, pipe: int | None, clean_up: Callable[[], None]) -> NoReturn:
    """Wait outside the fence until the script has ended, then end in the same way; Refused if it never began."""
    if pipe is not None and (answer := os.read(pipe, 1001))[:1] != b"K":
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(pipe)
        raise Refused(answer[1:].decode(errors="replace") or "the isolated process died while it was set up")
    status = signal.SIGKILL.value
    try:
        default_signals()
        status = os.waitpid(child, 0)[1]
        clean_up()
    finally:
        _end_like(status)


def default_signals() -> None:
    """Forget handlers inherited from the fork server: a signal ends this process, and the run with it."""
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)


def _end_like(status: int) -> NoReturn:
    """Exit as a process with this wait status did, without its core dump."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        silence_core()
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def die_with_parent(number: int | None = None) -> None:
    """Get this signal (SIGKILL, which not every system has) when the parent ends, however it ends."""
    if sys.platform == "linux":
        parent = os.getppid()
        _linux.prctl(_linux.PR_SET_PDEATHSIG, number or signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
