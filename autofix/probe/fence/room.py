"""Owns a run's way into its namespaces: forked once, straight into the new PID namespace, it joins the others.

A run forks from a process with torch in it, and what a fork copies is what it costs: so a small process, the
builder, makes the namespaces, is number 1 in them, and hands them out as descriptors.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterable

from . import _linux
from .builder import AGAIN, LOOK, MESSAGE, answer, own_user_namespace
from .ending import MARKER
from .fence import Fence, Refused, limit
from .waiter import die_with_parent, stand_by

_PATIENCE = 10.0


class Room:
    """The namespaces of one run, seen from outside: `meet`, `fork`, `join` in the child, `finish`."""

    def __init__(self, fence: Fence, door: socket.socket) -> None:
        """`door` leads to the builder, which `answer` starts."""
        self.fence, self._door = fence, door
        door.settimeout(_PATIENCE)
        self.pid = 0
        """The builder, which adopts what the run leaves."""
        self._runs = 0
        self._builder = self._processes = self.user = -1

    def meet(self) -> None:
        """Until the builder is there, into whose namespace of processes a run can be forked; raises Refused."""
        if not self.pid:
            answer, descriptors = self._hear(3)
            if answer[:1] != b"P":
                self._door.close()
                raise Refused(_reason(answer))
            self._builder, self._processes, self.user = descriptors
            self.pid = int(answer[1:])

    def _hear(self, most: int) -> tuple[bytes, list[int]]:
        try:
            answer, descriptors, _, _ = socket.recv_fds(self._door, MESSAGE, most)
        except OSError as error:
            return b"E" + str(error).encode(), []
        return answer, list(descriptors)

    def wait(self) -> None:
        """Until the room is built; raises Refused when it could not be. What was said stays for `join`."""
        self.meet()
        try:
            answer = self._door.recv(MESSAGE, socket.MSG_PEEK)
        except OSError as error:
            answer = b"E" + str(error).encode()
        if answer[:1] != b"K":
            self.finish()
            raise Refused(_reason(answer))

    def fork(self) -> int:
        """Fork into the room's PID namespace, as `os.fork`; the caller itself stays where it is.

        Its next children do so only where it has the right to go back: from a user namespace of its own there is
        no way but into the next room.
        """
        own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        child = -1
        try:
            _linux.join(self._processes, _linux.CLONE_NEWPID)
            child = os.fork()
        finally:
            if child:
                with contextlib.suppress(PermissionError):
                    _linux.join(own, _linux.CLONE_NEWPID)
            os.close(own)
        return child

    def join(self, keep: tuple[int, ...] | None) -> None:
        """Move this process in, lock it in, and give up what no script needs and all descriptors but `keep`.

        Raises Refused.
        """
        fence = self.fence
        answer, descriptors = self._hear(5)
        if answer[:1] not in (b"K", b"N"):
            raise Refused(_reason(answer))
        kinds = [_linux.CLONE_NEWIPC, _linux.CLONE_NEWUTS, *([] if fence.network else [_linux.CLONE_NEWNET])]
        try:
            # Those of the outer user namespace first: past the inner one nothing of theirs may be touched.
            for descriptor, kind in zip(descriptors, (*kinds, _linux.CLONE_NEWUSER, _linux.CLONE_NEWNS), strict=True):
                _linux.join(descriptor, kind)
                os.close(descriptor)
            os.chdir(fence.cwd)
            self.close()
            limit(keep)
            with contextlib.suppress(OSError):
                _linux.new_keyring()
            _linux.prctl(_linux.PR_SET_NO_NEW_PRIVS, 1)
            _linux.keep_capabilities(_linux.ROOT_CAPS if os.geteuid() == 0 else 0)
            _linux.prctl(_linux.PR_SET_PDEATHSIG, signal.SIGKILL)  # after the change of user, which clears it
        except OSError as error:
            raise Refused(str(error)) from error
        os.environ[MARKER] = fence.scratch

    def look(self, keep: Iterable[int] = (), following: int = 0) -> bytes:
        """What tells one state of the room from another; ends all processes in it but `keep`, where some are named.

        The next process then gets the number `following`, if it is free.
        """
        with contextlib.suppress(OSError):
            self._door.send(LOOK + json.dumps([following, *keep]).encode())
            while answer := self._door.recv(MESSAGE):
                if answer[:1] == b"L":
                    return answer
        return b""

    def leave(self) -> int:
        """Have everything in the room ended; returns where something can be read when that is done."""
        self._runs += 1
        with contextlib.suppress(OSError):
            self._door.send(AGAIN)
        return self._door.fileno()

    def as_new(self) -> bool:
        """Whether what `leave` began has ended with a room in which no run has left anything: another may use it.

        A run that was killed before it joined has left unread what was said before it.
        """
        with contextlib.suppress(OSError):
            return self._door.recv(MESSAGE, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"N%d" % self._runs
        return False

    def finish(self) -> None:
        """End everything in the room and wait until what the run wrote is written down."""
        with contextlib.suppress(OSError):
            self._door.settimeout(_PATIENCE)
            self._door.send(b".")
            while self._door.recv(MESSAGE):
                pass
        with contextlib.suppress(OSError):  # it has ended, unless something held it up
            signal.pidfd_send_signal(self._builder, signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """Let go of it; the builder then ends the room by itself."""
        self._door.close()
        for descriptor in (self._builder, self._processes, self.user):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _reason(answer: bytes) -> str:
    return answer[1:].decode(errors="replace") or "the isolated process died while it was set up"


def enter(fence: Fence) -> None:
    """Build a room from this small process and fork into it; returns in the process that shall run the script."""
    if _linux.capabilities() >> _linux.CAP_SYS_ADMIN & 1:
        with contextlib.suppress(Refused):  # root in a container may have to do as everybody else does
            _enter(fence, privileged=True)
            return
    own_user_namespace()
    _enter(fence, privileged=False)


def _enter(fence: Fence, *, privileged: bool) -> None:
    die_with_parent()
    door, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with inner:
        answer(fence, inner, privileged=privileged)
    room = Room(fence, door)
    room.wait()
    try:
        child = room.fork()
    except OSError as error:
        room.finish()
        raise Refused(str(error)) from error
    if child == 0:
        room.join(fence.keep)
        return
    stand_by(child, None, room.finish)
