"""How the benchmarks measure: commands that take turns, peak memory of a process tree, the neighbours' load."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = Path(__file__).resolve().parent / "workloads"
PYTHON = sys.executable
AUTOFIX = (PYTHON, "-m", "autofix")
_SAMPLE = 0.03


@dataclass(frozen=True)
class Figure:
    """One row of the table: a ratio (or seconds), every value it is the median of, and what stands behind it."""

    name: str
    values: list[float]
    target: float | None = None
    unit: str = "×"
    parts: dict[str, Any] = field(default_factory=dict)
    neighbours: float = 0.0
    """Cores that other programs used while this was measured, on average."""

    @property
    def median(self) -> float:
        """The figure."""
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        return None if self.target is None else self.median <= self.target

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"median": self.median, "met": self.met}


@dataclass(frozen=True)
class Ran:
    """What one command took: seconds, CPU seconds with all its children, and what it printed."""

    seconds: float
    cpu: float
    status: int
    stdout: str


def command(words: Sequence[str], cwd: Path | None = None) -> Ran:
    """Run a command to its end."""
    with subprocess.Popen(
        words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        began = time.perf_counter()
        out = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    return Ran(seconds, used.ru_utime + used.ru_stime, process.returncode, out)


def plain(script: Path, *argv: str) -> Ran:
    """The script as its author runs it, to its failure."""
    return command([PYTHON, script.name, *argv], script.parent)


def fix(script: Path, *argv: str, options: Sequence[str] = ()) -> Ran:
    """A cold `autofix fix`: every process is new."""
    return command([*AUTOFIX, "fix", "--quiet", *options, script.name, *argv], script.parent)


def elapsed(text: str, word: str = "elapsed") -> float:
    """What a workload said that its own loop took, in seconds; `word` is cpu for those of all its threads."""
    found = re.findall(rf"^{word} ([\d.]+)$", text, re.MULTILINE)
    if not found:
        raise SystemExit(f"a workload did not come to its measurement; it printed {text[-300:]!r}")
    return float(found[-1])


def turns(repeats: int, calls: Mapping[str, Callable[[], Any]]) -> dict[str, list[Any]]:
    """Results of `calls`, which take turns, forwards and backwards, so that a slow minute falls on all of them."""
    results: dict[str, list[Any]] = {name: [] for name in calls}
    for number in range(repeats):
        for name in list(calls) if number % 2 == 0 else list(calls)[::-1]:
            results[name].append(calls[name]())
    return results


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Each of ours by theirs of the same round."""
    return [a / b for a, b in zip(ours, theirs, strict=True)]


def witnessed(groups: Iterable[Sequence[Figure]]) -> Iterator[Figure]:
    """The figures of groups that are measured one after the other, each with what other programs used meanwhile."""
    began, busy, own = time.perf_counter(), _busy(), _own()
    for group in groups:
        ended, busy_then, own_then = time.perf_counter(), _busy(), _own()
        others = max(0.0, busy_then - busy - (own_then - own)) / (ended - began)
        for figure in group:
            yield replace(figure, neighbours=round(others, 2))
        began, busy, own = time.perf_counter(), _busy(), _own()


def _busy() -> float:
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    counted_twice = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return float(sum(times) - idle - counted_twice)


def _own() -> float:
    """CPU seconds of this process and of everything it started, whether that has ended or not."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    total = sum(one.ru_utime + one.ru_stime for one in used)
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            total += sum(child.cpu_times()[:4])  # its own, user and system, and those of its ended children
    return total


# Memory ---------------------------------------------------------------------------------------------------------------


def peak_memory(words: Sequence[str], cwd: Path) -> float:
    """The largest sum over a command's processes, in bytes, of the memory that each holds: shared pages count once.

    Linux only. Sampled, so a peak shorter than a few hundredths of a second can be missed. A sample counts where the
    same processes were there before it and after: else a page that a fork came to share meanwhile would count twice.
    """
    process = subprocess.Popen(
        words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    top, members = 0.0, {process.pid}
    while process.poll() is None:
        members = _members(members)
        held = sum(map(_held, members))
        if _members(members) == members:
            top = max(top, held)
            time.sleep(_SAMPLE)
    return top


def _members(known: set[int]) -> set[int]:
    """The living processes of a tree; one whose parent has gone stays a member."""
    parents = {one.pid: one.info["ppid"] for one in psutil.process_iter(["ppid"])}
    members = known & parents.keys()
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    return members


def _held(pid: int) -> int:
    """The memory of one process, each shared page divided by how many share it; 0 for one that has ended."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return 1024 * sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return 0
