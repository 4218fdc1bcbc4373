"""Owns what a run is to be kept from, and the limits that every rung puts on the run's own process."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """What one run is to be kept from. `keep`: the only descriptors, besides 0-2, it inherits."""

    rung: str
    project: str
    cwd: str
    scratch: str
    network: bool = False
    memory: int | None = None
    processes: int | None = None
    disk: int | None = None
    extra: tuple[str, ...] = ()
    keep: tuple[int, ...] | None = None


def beneath(path: str, top: str) -> bool:
    """Tell whether a path is a folder or lies in it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def limit(fence: Fence, keep: Iterable[int] | None) -> None:
    """Start a session of its own, without core dumps, within the memory limit, with no descriptor but `keep`."""
    with contextlib.suppress(OSError):
        os.setsid()
    silence_core()
    if fence.memory is not None:  # private writable memory: address space would count every mapped library
        _lower(resource.RLIMIT_DATA, fence.memory)
    if keep is not None and sys.platform == "linux":
        _linux.close_other_files(keep)


def silence_core() -> None:
    """Let no crash handler outside hear of this process."""
    _lower(resource.RLIMIT_CORE, _SILENT_CORE)


def _lower(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
