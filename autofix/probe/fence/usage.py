"""Owns what a run uses of the machine, its processes and their memory, against its limits and what there is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

_GROUP = "/sys/fs/cgroup/memory.max"


def exceeded(tops: Iterable[int], processes: int, memory: int) -> str:
    """The outcome of a run whose processes stem from `tops`, where it is over a limit."""
    found = family(tops)
    if len(found) > processes:
        return "processes_exceeded"
    # What workers share with the process they were forked from is resident in each of them, and costs once.
    if sum(map(_resident, found)) > memory and sum(map(_proportional, found)) > memory:
        return "memory_exceeded"
    return ""


def family(tops: Iterable[int]) -> list[int]:
    """These processes and all their descendants."""
    found, queue = [], list(tops)
    while queue:
        pid = queue.pop()
        found.append(pid)
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    queue += map(int, file.read().split())
    return found


def computed(pid: int) -> float:
    """Seconds for which a process has computed; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            used = file.read().rpartition(b")")[2].split()[11:13]
        return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def queued() -> float:
    """Seconds for which this process has waited for a core, by its first thread; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/schedstat", "rb") as file:
        return int(file.read().split()[1]) / 1e9
    return 0.0


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_memory() -> int:
    """Nine tenths of the memory that this machine, or the container it is, has: what is beyond makes others suffer."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):  # unknown here: nothing is bounded by it
        return 1 << 62
    with contextlib.suppress(OSError, ValueError), open(_GROUP, encoding="ascii") as file:
        whole = min(whole, int(file.read()))
    return whole * 9 // 10


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def _proportional(pid: int) -> int:
    """Resident bytes of a process, what several share divided among them; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(b"Pss:"))
    except (OSError, StopIteration, ValueError):
        return _resident(pid)
