"""The server's side of a stem: when one is worth its time, which runs may go on from it, and how they are started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import codec
from .fence import usage
from .fence.fencing import Place
from .running import LOOK, Child
from .wire import Request

if TYPE_CHECKING:  # a room needs Linux, and this has to be imported elsewhere, too
    from .fence.room import Room

_AFTER = 1.0
"""Seconds that a first run takes at least, before its beginning is worth a process of its own."""
_LONG = 200_000
"""Bytes of a script after which that is twice as many: a stem parses all of it twice, and notes each function."""
_MOST = 6
"""Forks that wait at once: each holds what its memory differs in from the others'."""
_PATIENCE = 20.0
"""Seconds within which a fork has to answer whether it serves."""
_IDLE = 5.0
"""Seconds after which a stem that nobody has asked goes: files may change, and memory is dear."""
_SLOWER = 2.0
"""How much longer than the first run its beginning may take before runs stop waiting for it."""
_WAITED, _WAITED_AT_MOST = 0.25, 0.5
"""Of the time that the first run has, the part for which it waits where there is one core: of the stem's computing; and
by the clock, where other programs want that core, too."""


_PATIENT = 1.0
"""How many times as long as what it shares a run waits for another that goes on from the same beginning."""


_after, _slower, _idle, _patient = _AFTER, _SLOWER, _IDLE, _PATIENT


def choose(how: str) -> None:
    """`never` share a beginning, or `always`, and then park before each statement; '': where it saves time."""
    global _after, _slower, _idle, _patient  # noqa: PLW0603  one server a process
    if how == "never":
        _after = float("inf")
    elif how == "always":
        from .beginning import stem

        _after = stem.apart = 0.0
        _slower, _idle, _patient = float("inf"), 60.0, float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A fork that waits before a statement."""

    door: socket.socket
    pid: int
    """Its number in the room."""
    seconds: float
    state: bytes
    """What there was in the room then: what was written later is no part of its past."""
    moved: bool
    sourced: bool
    """Whether it has heard of what all tensors were made of."""

    def serves(self, request: Request) -> bool:
        """Whether such a run would have come here: where parameters were moved, it is one that moves them, too.

        What compares the arguments of calls, or what modules give, would have seen some before; what moves parameters
        farther would have moved them otherwise. What asks where data come from would have heard of all that was made.
        """
        apart = request.mode == "trace" or request.outputs or request.compared or request.farther or request.stirred
        alike = request.perturbed and not apart
        return (alike or not self.moved) and (self.sourced or not request.sources)


class Resumed(Child):
    """A run that goes on from a fork: a child of that, not of the server."""

    def __init__(self, place: Place, pid: int, pipes: dict[int, str], door: socket.socket, stem: Stem) -> None:
        super().__init__(place, pid, pipes)
        self._door, self.origin = door, stem

    def wait(self) -> int | None:
        """The status with which it ended, once it has."""
        if not select.select([self._door], [], [], 0)[0]:
            return None
        return int(self._door.recv(64)[1:] or signal.SIGKILL.value)


class Stem:
    """The process that executes a beginning, and its forks."""

    def __init__(self, place: Place, room: Room, pid: int, orders: socket.socket, first: Child) -> None:
        self.place, self._room, self.pid, self.orders = place, room, pid, orders
        self.asked = place.request
        self.growing = True
        self.busy = False
        self._resumed_at = self._longest = 0.0
        """Since when a run goes on from here, and the most seconds that one took."""
        self.used = time.monotonic()
        self._began = time.monotonic()
        self.first = first
        self._next_look = 0.0
        self._number = 0
        """What the stem's process is called in the room: so is each run that goes on from it."""
        self._waiting: list[Waiting] = []

    def suits(self, request: Request) -> bool:
        """Whether a run might go on from here: what it asks for acts on nothing before a forward or a graph."""
        mine, other = (
            (one.script, one.argv, one.module, one.memory_limit, replace(one.setup, closures=0))
            for one in (self.asked, request)
        )
        plain = not (request.frozen or request.ordered or request.follow or request.graph or request.branches)
        traced = request.mode == "trace" and not request.watch_origins
        kind = traced or request.mode in ("reference", "candidate")
        return self.place.fits(request) and mine == other and plain and kind and request.threads == self.asked.threads

    def exceeds(self) -> bool:
        """Whether it takes more than a process may have beside the run that it is a copy of."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + LOOK
        most = usage.machine_memory() // 2
        most = min(most, self.asked.memory_limit or most)
        return bool(usage.exceeded((self.pid,), self.asked.process_limit, most))

    def serves(self, first: Request) -> bool:
        """Whether a further first run belongs to the same repair: arranged otherwise, of the same script."""
        mine, other = ((one.script, one.argv, one.cwd, one.overlay) for one in (self.asked, first))
        return mine == other and self.asked.setup != first.setup

    @property
    def promising(self) -> bool:
        """Whether to wait for what it comes to."""
        lasted = time.monotonic() - self._began
        if self.first.paused:
            worth = usage.computed(self.pid) < self.asked.time_limit * _WAITED
            return self.growing and worth and lasted < self.asked.time_limit * _WAITED_AT_MOST
        return self.growing and lasted < _slower * self.first.lasted() + _AFTER

    @property
    def worth_waiting(self) -> bool:
        """Whether a run waits for the one that goes on from here now: another core would execute the beginning anew."""
        took = max(self._longest, time.monotonic() - self._resumed_at)
        return self.busy and took <= _patient * max((one.seconds for one in self._waiting), default=0.0)

    def hear(self) -> None:
        """A fork waits, or the stem has ended."""
        message, descriptors = b"", list[int]()
        with contextlib.suppress(OSError):
            message, descriptors, _, _ = socket.recv_fds(self.orders, 100, 1)
        try:  # the script could write there, too
            own, pid, seconds, moved, sourced = message.split()
            self._number = int(own)
            door = socket.socket(fileno=descriptors[0])
        except (ValueError, IndexError, OSError):
            self.growing = False
            self.stop()
            with contextlib.suppress(OSError):
                os.waitpid(self.pid, 0)
            return
        door.settimeout(_PATIENCE)
        state, flags = self._room.look(), (moved == b"1", sourced == b"1")
        newest = Waiting(door, int(pid), float(seconds), state, *flags)
        for one in [one for one in self._waiting if one.state != newest.state]:  # what has changed does not come back
            self._waiting.remove(one)
            one.door.close()
        self._waiting.append(newest)
        with contextlib.suppress(OSError):
            self.orders.send(b".")
        if len(self._waiting) > _MOST:
            times = [0.0, *(one.seconds for one in self._waiting)]
            # The latest of these serve kinds of runs that later ones do not.
            kept = {sum(not one.moved for one in self._waiting) - 1, sum(one.sourced for one in self._waiting) - 1}
            rest = (at for at in range(_MOST) if at not in kept)
            self._waiting.pop(min(rest, key=lambda at: times[at + 1] - times[at])).door.close()

    def resume(self, request: Request, pipes: dict[int, str], ends: dict[str, int]) -> Resumed | None:
        """The run, gone on from the latest fork that it can go on from; None where there is none."""
        self.used = time.monotonic()
        if self.growing:  # what it writes from now on is no part of a run's past
            return None
        for one in reversed(self._waiting):
            served = one.state == self._look() and one.serves(request)  # a fork that declined has taken the number
            if served and (child := self._resumed(one, request, pipes, ends)) is not None:
                self.busy, self._resumed_at = True, time.monotonic()
                return child
        return None

    def _resumed(
        self, one: Waiting, request: Request, pipes: dict[int, str], ends: dict[str, int]
    ) -> Resumed | None:  # fmt: skip
        asked = os.memfd_create("request")
        handle = -1
        try:
            with open(asked, "wb", closefd=False) as file:
                file.write(codec.dump(request))
            os.lseek(asked, 0, os.SEEK_SET)
            socket.send_fds(one.door, [b"?"], [asked, ends["result"], ends["stdout"], ends["stderr"]])
            serves = False
            while not (serves and handle >= 0):
                answer, descriptors, _, _ = socket.recv_fds(one.door, 600, 1)
                if answer[:1] == b"P":
                    handle = descriptors[0]
                elif answer[:1] == b"G":
                    serves = True
                elif answer[:1] in (b"E", b""):
                    break
        except (OSError, IndexError):
            serves = False
        finally:
            os.close(asked)
        pid = _process(handle) if handle >= 0 else 0
        if not serves or not pid:
            if handle >= 0:
                os.close(handle)
            return None
        child = Resumed(Place(request, "overlay", ""), pid, pipes, one.door, self)
        child.deadline -= one.seconds
        child.ended = handle
        return child

    def leave(self) -> None:
        """A run has ended: end what it left."""
        self.busy = False
        self.used = time.monotonic()
        self._longest = max(self._longest, self.used - self._resumed_at)
        self._look()

    def _look(self) -> bytes:
        return self._room.look([one.pid for one in self._waiting], self._number)

    @property
    def idle(self) -> float:
        """Seconds until nobody will want it any more."""
        return max(0.0, self.used + _idle - time.monotonic())

    def stop(self) -> None:
        """Let it come no further; `hear` is told of its end."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """End all of it."""
        for one in self._waiting:
            one.door.close()
        self._waiting.clear()
        self.orders.close()
        if self.growing:
            self.stop()
            with contextlib.suppress(OSError):
                os.waitpid(self.pid, 0)
        self.place.clear(())


def wanted(children: Iterable[Child]) -> Child | None:
    """The first run whose beginning takes long enough to be executed once more, beside it, for all others."""
    for child in children:
        asked = child.request
        setup = asked.setup
        arranged = setup.entry not in ("", "cells") or setup.shorten or setup.skip_line
        plain = asked.mode == "baseline" and not arranged and not setup.compiled
        if plain and child.place.room is not None and child.lasted() >= _after * (1 + _size(asked.script) / _LONG):
            return child
    return None


def _size(path: str) -> int:
    """How many bytes a script has; 0 where it is none, as of a module that is run by its name."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _process(handle: int) -> int:
    """The number, here, of the process that a descriptor stands for."""
    with open(f"/proc/self/fdinfo/{handle}", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("Pid:")), 0)
