"""Owns the end of a run's processes: finding all that it started, and ending them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable

if sys.platform == "linux":
    from . import _linux

MARKER = "AUTOFIX_RUN"  # environment variable that names the scratch folder of the run a process belongs to


_PATIENCE = 2.0  # seconds in which all descendants have to be ended


def adopt_orphans() -> None:
    """Become the parent of every daemon that descendants start, so that `kill_tree` finds them."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            _linux.prctl(_linux.PR_SET_CHILD_SUBREAPER, 1)


def kill_tree(pid: int, *, spare_root: bool = False, keep: Collection[int] = ()) -> bool:
    """End all descendants of `pid` (not those of `keep`), then `pid` itself; True if none was left in time.

    `pid` must be a child that was not waited for yet, or this process (with `spare_root`).
    """
    end = time.monotonic() + _PATIENCE
    while left := descendants(pid, keep):
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none forks away meanwhile
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, number)
        _collect(left)
        if time.monotonic() > end:
            break
        time.sleep(0.001)
    if not spare_root:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                if kill is os.kill or pid != os.getpgrp():
                    kill(pid, signal.SIGKILL)
    return not left


def sweep(scratch: str, keep: Collection[int] = ()) -> bool:
    """End what a finished run left, in the parent (after `adopt_orphans`): adopted and marked processes."""
    clean = kill_tree(os.getpid(), spare_root=True, keep=keep)
    mark = f"{MARKER}={scratch}".encode(errors="surrogateescape")
    for pid in _processes():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if pid != os.getpid() and mark in file.read().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
    return clean


def _collect(processes: Iterable[int]) -> None:
    for process in processes:
        with contextlib.suppress(OSError):
            os.waitpid(process, os.WNOHANG)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # no /proc on this system
        return []


def descendants(top: int, keep: Collection[int] = ()) -> list[int]:
    """Return the living descendants of a process, not those of `keep`."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state not in {b"Z", b"X"}:
                children.setdefault(int(parent), []).append(pid)
    found, queue = [], [top]
    while queue:
        for pid in children.get(queue.pop(), []):
            if pid not in keep:
                found.append(pid)
                queue.append(pid)
    return found
