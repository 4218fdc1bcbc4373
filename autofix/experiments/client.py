"""Talks to the probe: starts it in the user's interpreter, sends requests, gives back traces."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from autofix.core.own import cores
from autofix.probe import codec, wire

PROBE = Path(__file__).parent.parent / "probe"
SLACK = 15.0
"""Seconds beyond a run's own time limit after which a silent probe is given up."""
_MESSAGE_LIMIT = 1 << 28
_SINGLE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
# A reference keeps the graph of one pass while the next is made. What it gives back and asks for anew goes through the
# kernel, page by page, unless glibc keeps it: for a CNN this was a third of a run.
_KEEPING = {"MALLOC_MMAP_THRESHOLD_": str(1 << 25), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
# In large pages, half of what the server holds: a fork copies, and its end takes apart, that many fewer entries.
_LARGE = "glibc.malloc.hugetlb=1"


JOBS = min(4, cores())
"""How many runs go on at once; each may use its share of the cores."""
SHARE = max(1, cores() // JOBS)
"""The threads of a run that others may go on beside."""


class ProbeError(Exception):
    """The probe could not be started or stopped answering; the text says what to do."""


class Probe:
    """A running probe: one server process in the user's interpreter. Use as a context manager, or call `close`."""

    def __init__(
        self,
        python: Path,
        modules: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        fresh: bool = False,
        stems: str = "",
    ) -> None:
        """`environment`: variables that its runs have beside our own; those that are ours too go before ours.

        `stems`: '' where beginnings that take long are shared, `never`, or `always`, for tests.
        """
        self.python = python
        self._ids = itertools.count(1)
        self._buffer = bytearray()
        self._traces: dict[int, wire.Trace] = {}
        self._waiting: set[int] = set()
        self._dropped: set[int] = set()
        self._hello: wire.Hello | None = None
        self._asked = False
        self._awaited = 0
        self.heard: Callable[[wire.Sign], None] = lambda _sign: None
        """Who is told of the signs of life of the run that is waited for."""
        self.awaited = ""
        """What that run is for, in a few words, where it is known."""
        options = ["--fresh"] if fresh else [f"--stems={stems}"] if stems else []
        self._process = self._start([*options, *modules], {**os.environ, **(environment or {})})

    def _start(self, words: Sequence[str], given: Mapping[str, str]) -> subprocess.Popen[bytes]:
        # OpenBLAS starts threads when numpy is imported, and a process with threads cannot be forked soundly.
        # What the user has tuned stays: on some systems torch cannot be imported without it.
        tuned = {"GLIBC_TUNABLES": ":".join(filter(None, (_LARGE, given.get("GLIBC_TUNABLES"))))}
        own = _SINGLE | _KEEPING | tuned
        restore = {name: given.get(name) for name in own}
        environment = {**given, **own, "AUTOFIX_PROBE_RESTORE": json.dumps(restore)}
        environment.setdefault("PYTHONHASHSEED", "0")
        command = [str(self.python), str(PROBE), *words]
        try:
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise ProbeError(f"cannot start {self.python}: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the server still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the server and every run that is left."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            if self._asked:  # else it has nothing to clear up, and may import torch for seconds yet
                self._process.wait(2)
        except subprocess.TimeoutExpired:
            pass
        finally:  # also after a second Ctrl-C: a server that still imports torch would only end when it has
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def hello(self, timeout: float = 120.0) -> wire.Hello:
        """What the server found when it started; raises ProbeError where it cannot serve."""
        while self._hello is None:
            try:
                self._hello = codec.load(wire.Hello, self._line(time.monotonic() + timeout))
            except codec.WireError:
                raise ProbeError(
                    f"{self.python} did not start the probe; name a Python 3.11 or newer with --python"
                ) from None
        if self._hello.error.startswith("torch "):
            raise ProbeError(f"{self.python}: {self._hello.error}; choose another with --python")
        if self._hello.error:
            raise ProbeError(f"{self.python} cannot import torch ({self._hello.error}); choose another with --python")
        return self._hello

    def submit(self, request: wire.Request) -> int:
        """Begin a run; returns the id to wait for."""
        number = next(self._ids)
        message = codec.dump(replace(request, id=number))
        try:
            if self._process.stdin is None:
                raise ProbeError("the probe is closed")
            self._asked = True
            self._process.stdin.write(message)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise ProbeError("the probe has ended; run again") from None
        self._waiting.add(number)
        return number

    def drop(self, number: int) -> None:
        """Give up a run whose trace nobody will wait for."""
        if number in self._waiting:
            self._dropped.add(number)
            self.cancel(number)
        self._traces.pop(number, None)

    def cancel(self, number: int) -> None:
        """Give up a run that is under way."""
        self._tell("cancel", number)

    def _tell(self, word: str, number: int) -> None:
        """Tell the server something of a run; one that has ended is met when its trace is read."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError, ValueError):
                self._process.stdin.write(json.dumps({word: number}).encode() + b"\n")
                self._process.stdin.flush()

    def wait(self, number: int, time_limit: float) -> wire.Trace:
        """The trace of a submitted run."""
        self.hello()
        # Those before it in the queue may use up their time first.
        deadline = time.monotonic() + time_limit * max(1, len(self._waiting)) + SLACK
        self._awaited = number
        if number in self._waiting and len(self._waiting) > 1:
            self._tell("urgent", number)
        while number not in self._traces:
            self._take(self._line(deadline))
        return self._traces.pop(number)

    def ended(self, number: int) -> bool:
        """Whether the trace of a submitted run is here; does not wait."""
        while self._hello is not None and self._more(0.0):
            self._read()
        while self._hello is not None and (line := self._complete()):
            self._take(line)
        return number in self._traces

    def _take(self, line: bytes) -> None:
        if line.startswith(wire.SIGN):
            sign = codec.load(wire.Sign, line)
            if sign.sign == self._awaited:
                self.heard(sign)
            return
        trace = codec.load(wire.Trace, line)
        self._waiting.discard(trace.id)
        if trace.id in self._dropped:
            self._dropped.discard(trace.id)
        else:
            self._traces[trace.id] = trace

    def _line(self, deadline: float) -> bytes:
        while not (line := self._complete()):
            if not self._more(max(0.0, deadline - time.monotonic())):
                self._process.kill()
                raise ProbeError("the probe does not answer any more; raise --time-limit or report this")
            self._read()
        return line

    def _complete(self) -> bytes:
        """The first whole line of what was read, or b''."""
        end = self._buffer.find(b"\n") + 1
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        return line

    def _more(self, seconds: float) -> bool:
        """Whether something can be read within that time; the end of the pipe counts."""
        pipe = self._process.stdout
        return pipe is None or bool(select.select([pipe], [], [], seconds)[0])

    def _read(self) -> None:
        pipe = self._process.stdout
        if pipe is None or len(self._buffer) > _MESSAGE_LIMIT:
            raise ProbeError("the probe sent more than it may")
        data = os.read(pipe.fileno(), 1 << 20)
        if not data:
            raise ProbeError(
                f"{self.python} ended before it answered; name a Python 3.11 or newer with torch by --python"
            )
        self._buffer += data


def run(probe: Probe, request: wire.Request) -> wire.Trace:
    """Run `request` and wait for its trace."""
    return probe.wait(probe.submit(request), request.time_limit)
