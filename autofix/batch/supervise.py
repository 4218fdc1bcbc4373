"""Keeps one worker process and bears with it: limits its time and memory, ends its whole tree, always gets a result."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import psutil

from autofix.batch.cores import Core
from autofix.batch.records import Event, Found, Job, Result, target_key
from autofix.core import own
from autofix.core.model import Outcome
from autofix.probe import codec

_RUNS = 10
"""How many runs' time limits one target may take as a whole: a repair is some runs, of which most are short."""
_SLACK = 60.0
_COPYING = 900.0
_LOOK = 1.0
_OWN_MEMORY = 3 << 30
"""What a worker and its warm interpreter may hold beyond two runs at once."""
_ALONE = "it was not seen to go together with the other fixes of this repository"
_WORKER = "autofix.batch.worker"


class _Lost(Exception):  # noqa: N818 - what happened to the worker
    """The worker ended, or had to be ended; the outcome says why."""

    def __init__(self, outcome: Outcome, said: str) -> None:
        super().__init__(said)
        self.outcome = outcome


@dataclass(slots=True)
class _Errand:
    """How far a job has come: what is still to be done of it, and the target in hand."""

    job: Job
    looked: bool
    keys: dict[str, str] = field(default_factory=dict)
    current: str = ""
    lost: set[str] = field(default_factory=set)
    over: bool = False

    def note(self, event: Event) -> None:
        if event.kind == "began":
            self.current = event.command
        if event.found is not None:
            self.looked = True
            self.keys = {entry.command: entry.key for entry in event.found.entries}
            # What is left after a loss is asked for by name, so that nothing is told twice.
            self._leave(entry.command for entry in event.found.entries if entry.key not in self.job.known)
        if event.result is not None:
            self.current = ""
            self._leave(line for line in self.job.only if line != event.command)

    def bear(self, loss: _Lost) -> Event | None:
        """What to tell when the worker was lost: nothing the first time that the same target had it."""
        if self.job.together and (self.lost or loss.outcome is not Outcome.CRASHED):
            self.over = True
            return Event("joined", apart={one.command: _ALONE for one in self.job.together[1:]})
        again = loss.outcome is Outcome.CRASHED and self.current not in self.lost
        self.lost.add(self.current)
        if again:
            return None
        line = self.current or next(iter(self.job.only), "")
        if not line:
            self.over = True
            key = self.job.repository.key("")
            return Event("found", Found(key, problem=f"looking it over came to nothing: {loss}"))
        key = self.keys.get(line) or target_key(self.job.key, line)
        event = Event("result", command=line, result=Result(line, key, str(loss.outcome), message=str(loss)))
        self.note(event)
        return event

    def _leave(self, commands: Iterable[str]) -> None:
        self.job = replace(self.job, only=tuple(commands))


class Supervisor:
    """One worker, started when there is work and again whenever it is lost. Use from one thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()
        self._closed = False
        self._core = Core()

    def run(self, job: Job) -> Iterator[Event]:
        """A job's events. A target that a lost worker had in hand is tried once more, then given its outcome."""
        course = _Errand(job, looked=bool(job.only or job.together))
        while not course.over:
            if course.looked and not (course.job.only or job.together):
                yield Event("ended")
                return
            try:
                for event in self._events(course.job):
                    course.note(event)
                    if event.kind != "began":
                        yield event
                course.over = True
            except _Lost as loss:
                if self._closed:
                    return
                if (told := course.bear(loss)) is not None:
                    yield told

    def close(self) -> None:
        """End the worker and everything that it started."""
        self._closed = True
        self._end()
        self._core.close()

    def _events(self, job: Job) -> Iterator[Event]:
        options = job.repository.options
        preparing = _COPYING + (options.setup_limit if options.setup else 0.0)
        target = _RUNS * options.time_limit + _SLACK
        memory = 2 * options.memory_limit + _OWN_MEMORY if options.memory_limit else 0
        self._send(job)
        deadline = time.monotonic() + preparing
        while (event := self._event(deadline, memory)).kind != "done":
            deadline = time.monotonic() + (target if event.kind == "began" else preparing)
            yield event

    def _send(self, job: Job) -> None:
        if self._closed:
            raise _Lost(Outcome.CRASHED, "the worker was closed")
        if self._process is None or self._process.poll() is not None:
            self._end()
            # A neutral folder: what lies where the operator stands is no part of any target.
            with self._core.bound():
                self._process = subprocess.Popen(
                    own.command(_WORKER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    cwd="/", start_new_session=True,
                )  # fmt: skip
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(codec.dump(job))
                self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            self._end()
            raise _Lost(Outcome.CRASHED, "the worker ended") from None

    def _event(self, deadline: float, memory: int) -> Event:
        process = self._process
        if process is None or process.stdout is None:
            raise _Lost(Outcome.CRASHED, "the worker ended")
        while (end := self._buffer.find(b"\n")) < 0:
            ready, _, _ = select.select([process.stdout], [], [], _LOOK)
            if ready:
                data = os.read(process.stdout.fileno(), 1 << 20)
                if not data:
                    self._end()
                    raise _Lost(Outcome.CRASHED, "its worker died, twice")
                self._buffer += data
            elif time.monotonic() > deadline:
                self._end()
                raise _Lost(Outcome.TIMED_OUT, "it took longer than a whole repair may; raise --time-limit")
            elif memory and _held(process.pid) > memory:
                self._end()
                raise _Lost(Outcome.MEMORY_EXCEEDED, "all that it started needs more memory than allowed")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return codec.load(Event, line)

    def _end(self) -> None:
        process, self._process = self._process, None
        self._buffer.clear()
        if process is None:
            return
        _kill_tree(process.pid)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _tree(pid: int) -> list[psutil.Process]:
    try:
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    except psutil.Error:
        return []


def _held(pid: int) -> int:
    total = 0
    for process in _tree(pid):
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss
    return total


def _kill_tree(pid: int) -> None:
    """Stop first, then kill: a tree that is being walked must not grow."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in _tree(pid):
            with contextlib.suppress(psutil.Error, OSError):
                process.send_signal(number)
