"""One run as the server sees it: a process group, its pipes and limits, and what it came to."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import replace
from typing import Any

from . import codec, wire
from .fence import isolate, usage
from .fence.fencing import Place

LOOK = 0.1
"""Seconds between two looks at what the processes of a run use."""


class Child:
    """A run in its own process group, with the pipes that come out of it."""

    def __init__(self, place: Place, pid: int, pipes: dict[int, str]) -> None:
        self.place = place
        self.request = request = place.request
        self.pid, self.pipes = pid, pipes
        self.data = {"result": bytearray(), "stdout": bytearray(), "stderr": bytearray()}
        self.deadline = time.monotonic() + request.time_limit
        self.began = time.monotonic()
        self.over = 0.0
        self.stem = False
        """Whether its beginning is executed for others beside it."""
        self.paused = 0.0
        """Since when it waits, on the monotonic clock, for what its beginning comes to; 0 where it goes on."""
        self.next_look = self.began + LOOK
        self.memory_limit = request.memory_limit or usage.machine_memory()
        self.verdict = ""
        self.status: int | None = None
        self.reported: wire.Trace | None = None
        """What the host was told that it came to, before it had ended."""
        self.ended = -1
        self.door = -1
        self._told = 0.0

    def kill(self, verdict: str) -> None:
        """End it and all that it started; the first reason given is the one reported."""
        self.verdict = self.verdict or verdict
        if self.status is not None:
            return
        if self.place.room is None:
            isolate.kill_tree(self.pid)
        else:  # which ends the rest when it is left
            os.kill(self.pid, signal.SIGKILL)

    def pause(self) -> None:
        """Let it wait: there is one core, and another process needs it more."""
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGSTOP)
            self.paused = time.monotonic()

    def go_on(self) -> None:
        """Let it go on after that."""
        self.paused = 0.0
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGCONT)

    def wait(self) -> int | None:
        """The status with which it ended, once it has."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return status if pid else None

    def lasted(self) -> float:
        """Seconds that it has taken, or took."""
        return (self.over or time.monotonic()) - self.began

    def look(self, now: float) -> None:
        """Count what the run uses, now and then: asking each of its processes costs."""
        self.next_look = now + LOOK
        tops = (self.pid,) if self.place.room is None else (self.pid, self.place.room.pid)
        if over := usage.exceeded(tops, self.request.process_limit, self.memory_limit):
            self.kill(over)

    def signs(self) -> bytes:
        """The latest sign of life that came before its report, as a line; b'' where none did or it was no sign."""
        data, line = self.data["result"], b""
        while data.startswith(wire.SIGN) and (end := data.find(b"\n") + 1):
            line = bytes(data[:end])
            del data[:end]
        try:
            sign = codec.load(wire.Sign, line) if line and time.monotonic() - self._told > LOOK else None
        except codec.WireError:
            return b""
        if sign is None or sign.sign != self.request.id:
            return b""
        self._told = time.monotonic()
        return line

    def report(self, wrote: tuple[str, ...] = ()) -> wire.Trace | None:
        """What the run reported; None where it did not, or was ended."""
        try:
            trace = codec.load(wire.Trace, self.place.back(bytes(self.data["result"])))
        except codec.WireError:
            return None
        return replace(trace, **self._seen(wrote)) if trace.id == self.request.id and not self.verdict else None

    def trace(self, wrote: tuple[str, ...]) -> wire.Trace:
        """The same, or what its end says where it reported nothing."""
        if (trace := self.report(wrote)) is not None:
            return trace
        facts = self._seen(wrote)
        outcome = self.verdict or self.place.stopped or "crashed"
        detail = _ending(self.status, facts["stderr"]) if outcome == "crashed" else ""
        return wire.Trace(self.request.id, outcome, detail, seconds=time.monotonic() - self.began, **facts)

    def _seen(self, wrote: tuple[str, ...]) -> dict[str, Any]:
        """What is known of it from outside."""
        stdout, stderr = (bytes(self.data[name]).decode("utf-8", "replace") for name in ("stdout", "stderr"))
        return {
            "stdout": stdout, "stderr": stderr, "isolation": self.place.rung, "wrote": wrote, "stem": self.stem,
        }  # fmt: skip


def _ending(status: int | None, stderr: str) -> str:
    said = "".join(f"; it last said: {line.strip()[:200]}" for line in stderr.splitlines()[-1:])
    if status is not None and os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}{said}"
    code = os.waitstatus_to_exitcode(status) if status is not None else 0
    return f"the script ended the process with status {code} before its end could be seen{said}"
