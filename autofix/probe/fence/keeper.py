"""Owns the small process beside the fork server that builds a room for each run, so that no large process has to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from dataclasses import asdict, replace
from typing import NoReturn

from .fence import Fence, Refused
from .isolate import clear

if sys.platform == "linux":
    from . import _linux, builder, room
    from .waiter import default_signals, die_with_parent

_LONGEST = 1 << 20
_PATIENCE = 2.0


def start() -> Keeper | None:
    """A keeper, where there are namespaces."""
    return Keeper() if sys.platform == "linux" else None


class Keeper:
    """Start it before anything large is imported: it forks."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            _keep(theirs)
        theirs.close()
        self._requests = ours
        self._privileged = bool(_linux.capabilities() >> _linux.CAP_SYS_ADMIN & 1)
        self.inside = False
        """Whether opening a room has moved the caller into a user namespace: it can then fork only into rooms."""
        self._known: set[str] = set()

    def open(self, fence: Fence) -> room.Room:
        """A room for a run, perhaps still to be met; raises Refused. The caller must have one thread."""
        made = self._first(fence)
        if not self._privileged and not self.inside:
            made.meet()
            try:
                _linux.join(made.user, _linux.CLONE_NEWUSER)
            except OSError as error:
                made.finish()
                raise Refused(str(error)) from error
            self.inside = True
        return made

    def note(self, scratch: str) -> None:
        """Have a scratch folder removed, should this process be killed."""
        with contextlib.suppress(OSError):
            self._requests.send(json.dumps({"scratch": scratch}).encode())

    def knows(self, project: str) -> bool:
        """Whether a room for a project was built before, so that the next one can be relied on."""
        return project in self._known and (self._privileged or self.inside)

    def check(self, fence: Fence) -> None:
        """Try once for each project whether a room can be had; none is left. Raises Refused."""
        if fence.project not in self._known:
            self._first(fence).finish()

    def _first(self, fence: Fence) -> room.Room:
        """A room; of a project's first it is known that it could be built."""
        try:
            made = self._asked(fence)
            if fence.project not in self._known:
                made.wait()
        except Refused:
            if not self._privileged or self._known:
                raise
            self._privileged = False  # root in a container may have to do as everybody else does
            return self._first(fence)
        self._known.add(fence.project)
        return made

    def _asked(self, fence: Fence) -> room.Room:
        door, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        message = json.dumps({"privileged": self._privileged, **asdict(replace(fence, keep=None))}).encode()
        try:
            socket.send_fds(self._requests, [message], [inner.fileno()])
        except OSError as error:
            door.close()
            raise Refused(f"the builder of namespaces has ended: {error}") from error
        finally:
            inner.close()
        return room.Room(fence, door)


def _keep(requests: socket.socket) -> NoReturn:
    """Build rooms until nobody asks any more; then remove what a server that was killed left of its scratch folders."""
    scratches: list[str] = []

    def leave(*_: object) -> NoReturn:
        end = time.monotonic() + _PATIENCE  # the runs end with their server, but not before it
        while (left := [*filter(os.path.isdir, scratches)]) and time.monotonic() < end:
            for scratch in left:
                clear(scratch)
            time.sleep(0.01)
        os._exit(0)

    try:
        die_with_parent(signal.SIGTERM)
        default_signals()
        signal.signal(signal.SIGTERM, leave)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C reaches the whole group; the host decides
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        _linux.close_other_files((requests.fileno(),))
        inside = False
        while True:
            message, descriptors, _, _ = socket.recv_fds(requests, _LONGEST, 1)
            if not message:
                leave()
            _reap()
            fields = json.loads(message)
            if not descriptors:
                scratches = [*filter(os.path.isdir, scratches), fields["scratch"]]
                continue
            privileged = fields.pop("privileged")
            with socket.socket(fileno=descriptors[0]) as inner:
                try:
                    if not privileged and not inside:
                        builder.own_user_namespace()
                        inside = True
                    builder.answer(Fence(**fields), inner, privileged=privileged)
                except Refused as reason:
                    builder.say(inner, b"E", str(reason))
    finally:
        os._exit(70)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
