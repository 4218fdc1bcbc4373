"""Our own processes: how many go on at once, and that they import nothing of a user's PYTHONPATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_HERE = str(Path(__file__).resolve().parent.parent.parent)


def keep_apart() -> None:
    """Import nothing from PYTHONPATH or the current folder from now on, but for this package itself.

    The environment stays as it is: the script's interpreter reads it.
    """
    told = os.environ.get("PYTHONPATH", "")
    theirs = {str(Path(entry).absolute()) for entry in told.split(os.pathsep) if entry} | {str(Path.cwd())}
    sys.path[:] = [entry for entry in sys.path if _is_ours(entry, theirs)]


def _is_ours(entry: str, theirs: set[str]) -> bool:
    path = Path(entry).absolute()
    return str(path) not in theirs or str(path.resolve()) == _HERE


def command(module: str) -> list[str]:
    """What starts a module of ours in a process of its own, which finds modules where this one does."""
    start = f"import runpy, sys; sys.path[:] = {sys.path!r}; runpy.run_module(sys.argv[1], run_name='__main__')"
    return [sys.executable, "-E", "-P", "-c", start, module]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
