"""Owns the small process that builds a run's namespaces, is number 1 in them, and ends what the run leaves.

It stands in a first mount namespace and hands out a second one, of a user namespace further in, where every
mount is locked: a script that is root there cannot take the fence apart.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import NoReturn

from . import _linux, mounts
from .fence import Fence, Refused
from .waiter import default_signals
from .written import write_down

MESSAGE = 1001
"""The longest answer at the door, in bytes."""
AGAIN = b"+"
"""What is said at the door when a run has ended, and another may use the room."""
LOOK = b"?"
"""What is asked at the door when a run has ended, and another goes on from where it began."""
_COUNTED = 0.1
_FIRST = 3
"""The number of the first run: before it come this process, and the one that passed through the second namespaces."""


def answer(fence: Fence, inner: socket.socket, *, privileged: bool) -> None:
    """Start the builder of a room from this small process; `inner` is its end of the door. Raises Refused."""
    flags = _linux.CLONE_NEWNS | _linux.CLONE_NEWPID | _linux.CLONE_NEWIPC | _linux.CLONE_NEWUTS
    flags |= 0 if fence.network else _linux.CLONE_NEWNET
    try:
        stage = mounts.plan(fence, privileged=privileged)
        try:
            if _linux.clone(flags) == 0:
                _build(stage, inner)
        finally:
            stage.close()
    except OSError as error:
        raise Refused(str(error)) from error


def say(inner: socket.socket, kind: bytes, text: str = "", descriptors: tuple[int, ...] = ()) -> None:
    """Answer at the door: `P` the processes' namespace is there, `K` all is, `N` all is as new again, `E` why not."""
    with contextlib.suppress(OSError):
        socket.send_fds(inner, [kind + text.encode(errors="replace")[: MESSAGE - 1]], list(descriptors))


def _build(stage: mounts.Stage, inner: socket.socket) -> NoReturn:
    """Be process 1 of the new namespaces, from their making to their end."""
    try:
        _linux.prctl(_linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        default_signals()
        own = tuple(_namespace(stage, "self", name) for name in ("pid", "user"))
        handle = os.pidfd_open(os.getpid())
        say(inner, b"P", os.readlink("self", dir_fd=stage.host), (handle, *own))
        mounts.build(stage)
        locked = _second(stage)
        names = ("uts",) if stage.fence.network else ("uts", "net")
        lasting = (*(_namespace(stage, "self", name) for name in names), *locked)
        new = mounts.look(stage)
        _hand_out(stage, inner, b"K", "", lasting)
        for descriptor in (handle, *own):
            os.close(descriptor)
        _live(stage, inner, lasting, new)
        os._exit(0)
    except Exception as error:  # whatever it is: this process must never go on as anything else
        say(inner, b"E", str(error))
    finally:
        os._exit(70)


def _hand_out(stage: mounts.Stage, inner: socket.socket, kind: bytes, text: str, lasting: tuple[int, ...]) -> None:
    """Give a run all that it joins: the objects of System V in a namespace of its own, and what lasts."""
    ipc = _namespace(stage, "self", "ipc")
    say(inner, kind, text, (ipc, *lasting))
    os.close(ipc)


def _namespace(stage: mounts.Stage, process: str, name: str) -> int:
    return os.open(f"{process}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=stage.host)


def _second(stage: mounts.Stage) -> tuple[int, int]:
    """Make the user and mount namespace in which every mount is locked; a passing process has to be the first in it."""
    ids = os.geteuid(), os.getegid()
    ask, tell = os.pipe()
    hold, release = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(release)
            outer = os.readlink("self", dir_fd=stage.host)
            _linux.unshare(_linux.CLONE_NEWUSER | _linux.CLONE_NEWNS)
            os.write(tell, outer.encode())
            os.read(hold, 1)
            os._exit(0 if ids == (os.geteuid(), os.getegid()) else 2)
        finally:
            os._exit(1)
    os.close(tell)
    os.close(hold)
    outer = os.read(ask, 16).decode()
    found = None
    try:
        if outer:
            process = os.open(outer, os.O_PATH | os.O_CLOEXEC, dir_fd=stage.host)
            _linux.write_id_maps(process, *ids)
            os.close(process)
            found = _namespace(stage, outer, "user"), _namespace(stage, outer, "mnt")
    finally:
        os.close(release)
        os.close(ask)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or found is None:
        raise OSError("the ids of the second user namespace were not mapped" if outer else "no second user namespace")
    return found


def _live(stage: mounts.Stage, inner: socket.socket, lasting: tuple[int, ...], new: object) -> None:
    """Adopt and reap until the run has ended or nobody waits for it; then end the rest and write down the writes.

    A room in which nothing was written is as good as new: it is handed out again, if that is asked for.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    _linux.prctl(_linux.PR_SET_DUMPABLE, 0)
    runs = 0
    while True:
        runs += 1
        stopped = _watch(inner, stage.fence.processes)
        word = inner.recv(MESSAGE)
        while word[:1] == LOOK and not stopped:
            following, *keep = json.loads(word[1:])
            _spare(keep)
            with contextlib.suppress(OSError):
                if following:
                    _number(stage, following)
            say(inner, b"L", mounts.state(stage) + _kept(stage))
            stopped = _watch(inner, stage.fence.processes)
            word = inner.recv(MESSAGE)
        more = word == AGAIN
        _end_the_rest()
        if stopped or not more or mounts.look(stage) != new or not _renewed(stage):
            break
        _hand_out(stage, inner, b"N", str(runs), lasting)
    write_down(stage.manifest, [layer for layer in stage.layers if layer.upper >= 0], stopped)


def _spare(keep: list[int]) -> None:
    """End all processes but these, if there are any."""
    end = time.monotonic() + 1
    while keep and time.monotonic() < end:
        others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {*keep, os.getpid()}
        if not others:
            break
        for pid in others:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _number(stage: mounts.Stage, following: int) -> None:
    """Have the next process get this number, if it is free; raises OSError where that is not allowed."""
    last = os.open("sys/kernel/ns_last_pid", os.O_WRONLY | os.O_CLOEXEC, dir_fd=stage.host)
    try:
        os.write(last, str(following - 1).encode())
    finally:
        os.close(last)


def _kept(stage: mounts.Stage) -> str:
    """What namespaces keep of a run: its connections, and objects of System V."""
    found = [] if stage.fence.network else [str(_linux.connections())]
    for name in ("msg", "sem", "shm"):
        with contextlib.suppress(OSError), open(f"/proc/sysvipc/{name}", encoding="ascii") as file:
            found.append(str(len(file.readlines())))
    return " ".join(found)


def _end_the_rest() -> None:
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    end = time.monotonic() + 1
    while _processes() > 1 and time.monotonic() < end:  # one of another parent is dying
        time.sleep(0.001)


def _renewed(stage: mounts.Stage) -> bool:
    """Have what namespaces keep of a run gone, too: its objects, its connections, the count of its processes."""
    try:
        if not stage.fence.network and _linux.connections():
            return False  # one that is closed keeps its port for a minute
        _linux.unshare(_linux.CLONE_NEWIPC)
        _number(stage, _FIRST)
    except OSError:
        return False
    return _processes() == 1


def _watch(inner: socket.socket, most: int | None) -> str | None:
    """Count processes until the end: the kernel's own limit does not bind root. Returns what was exceeded."""
    stopped = None
    watch = select.poll()
    watch.register(inner, select.POLLIN)
    while not watch.poll(None if most is None else 1000 * _COUNTED):
        if most is not None and _processes() - 1 > most:
            stopped = "processes"
            os.kill(-1, signal.SIGKILL)
    return stopped


def _processes() -> int:
    return sum(name.isdigit() for name in os.listdir("/proc"))


def own_user_namespace() -> None:
    """Move this process into a user namespace of its own, where it may mount; raises Refused."""
    ready, go = os.pipe()
    parent = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    ids = os.geteuid(), os.getegid()
    mapper = os.fork()
    if mapper == 0:  # only from outside may more than one id be mapped
        try:
            os.close(go)
            if os.read(ready, 1):
                _linux.write_id_maps(parent, *ids)
        finally:
            os._exit(0)
    os.close(ready)
    try:
        _linux.unshare(_linux.CLONE_NEWUSER)
        os.write(go, b".")
    except OSError as error:
        raise Refused(str(error)) from error
    finally:
        os.close(go)
        os.waitpid(mapper, 0)
        os.close(parent)
    if ids != (os.geteuid(), os.getegid()):
        raise Refused("the ids of the user namespace could not be mapped")
