"""Owns what a run is to be kept from, and the limits that every rung puts on the run's own process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

if sys.platform != "win32":
    import resource
if sys.platform == "linux":  # at import, so that no run pays for it
    from . import _linux

LADDER = ("overlay", "landlock", "copy", "none")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
GPU_DEVICES = ("nvidia", "dri", "kfd", "dxg", "accel")
_SILENT_CORE = 1  # a limit of 0 still feeds a crash handler behind a pipe; the kernel skips it at exactly 1


class Refused(Exception):  # noqa: N818 -- an answer, not an error
    """This rung cannot be had here; nothing was changed, so the next one may be tried."""


@dataclass(frozen=True, slots=True)
class Fence:
    """What one run is to be kept from.

    `disk`: the bytes that it may write where writes are held in memory. `keep`: the only descriptors, besides 0-2, that
    it inherits.
    """

    rung: str
    project: str
    cwd: str
    scratch: str
    network: bool = False
    processes: int | None = None
    disk: int | None = None
    keep: tuple[int, ...] | None = None


def beneath(path: str, top: str) -> bool:
    """Tell whether a path is a folder or lies in it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def limit(keep: Iterable[int] | None) -> None:
    """Start a session of its own, without core dumps, with no descriptor but `keep`."""
    with contextlib.suppress(OSError):
        os.setsid()
    silence_core()
    if keep is not None and sys.platform == "linux":
        _linux.close_other_files(keep)


def silence_core() -> None:
    """Let no crash handler outside hear of this process."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    most = _SILENT_CORE if hard == resource.RLIM_INFINITY else min(_SILENT_CORE, hard)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
