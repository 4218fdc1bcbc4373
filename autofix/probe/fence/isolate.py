"""Owns the ladder of fences: which rungs there are, how to enter one, and what clears up after a run."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from typing import NoReturn

from . import copies
from .copies import moved, prepare_copy
from .ending import adopt_orphans, kill_tree, sweep
from .fence import LADDER, Fence, Refused, limit
from .written import writes

if sys.platform == "linux":
    from . import _linux, room

__all__ = [
    "LADDER", "Fence", "Refused", "adopt_orphans", "available", "clear", "enter", "kill_tree", "moved", "prepare_copy",
    "sweep", "writes",
]  # fmt: skip


def enter(fence: Fence) -> str:
    """Put up the fence; returns, with the rung's name, only in the process that shall run the script.

    Call it in a fresh fork with one thread, small where the rung is overlay. Except on the rung none, the calling
    process stays outside as the waiter: it ends as the script ended (same exit code or signal), and takes
    everything that the script started with it.
    """
    if fence.rung not in LADDER:
        raise Refused(f"no such isolation: {fence.rung}")
    if not os.path.isabs(fence.project) or not os.path.isdir(fence.scratch):
        raise Refused("the project's root must be absolute, and the scratch folder must exist")
    if fence.rung == "overlay":
        if sys.platform != "linux":
            raise Refused("namespaces are a Linux thing")
        room.enter(fence)
    elif fence.rung == "none":
        os.chdir(fence.cwd)
        limit(fence.keep)
    else:
        copies.enter(fence)
    return fence.rung


def available() -> list[str]:
    """Return the rungs that work here, best first, tried in a throw-away fork."""
    found = ["overlay"] if hasattr(os, "fork") and _overlay_works() else []
    return [*found, *(["landlock"] if has_landlock() else []), "copy", "none"]


def has_landlock() -> bool:
    """Whether the kernel has Landlock, and lets it be used."""
    return sys.platform == "linux" and _linux.landlock_abi() > 0


def _overlay_works() -> bool:
    scratch = tempfile.mkdtemp(prefix="autofix-")
    project = os.path.join(scratch, "project")
    try:
        os.makedirs(project)
        child = os.fork()
        if child == 0:
            _try_entry(Fence("overlay", project, project, scratch))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        clear(scratch)


def _try_entry(fence: Fence) -> NoReturn:
    try:
        enter(fence)
        os._exit(0)
    finally:
        os._exit(1)


def clear(scratch: str) -> None:
    """Remove a scratch folder, also what a run left there without permissions for anyone."""
    for folder, names, _ in os.walk(scratch):
        for name in names:
            with contextlib.suppress(OSError):
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
    shutil.rmtree(scratch, ignore_errors=True)
