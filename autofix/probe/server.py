"""The fork server: imports once, forks for every run, supervises the runs and hands their traces to the host."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from dataclasses import replace
from typing import Any

from . import codec, stems, wire
from .ahead import too_old, unsound, warm
from .becoming import become, spawn
from .fence import isolate, usage
from .fence.fencing import Fencing, Place
from .packing import Packing
from .program import known
from .running import LOOK, Child
from .standins import dynamo

RESULT_LIMIT = 1 << 27
_IMPORTING = 30.0  # seconds that a fresh process may take to import torch, beyond its time limit
_TICK = 0.02  # seconds between two looks where the system does not tell of a run's end
_CLEARING = 10.0  # seconds after which nobody waits any more for what is to say that a run's place is cleared
_MANY = 60
"""Runs after which a server is one that is kept: a repair alone needs fewer."""
_JOBS = min(4, usage.cores())
_KEPT = 0.3
"""Seconds for which rooms are kept while nobody runs: a repair asks for its next run much sooner."""
_FIRST = ("baseline", "audit", "stem")
_REPLACED = "replaced"
"""The end of a run in whose place another one goes on."""


class Server:
    """Reads requests from one descriptor, writes hello and traces to another."""

    def __init__(self, requests: int, answers: int, fencing: Fencing) -> None:
        self._answers, self._requests = answers, requests
        self._fork = True
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ, None)
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._children: dict[int, Child] = {}
        self._leaving: list[Child] = []
        self._queue: list[wire.Request] = []
        self._fencing = fencing
        self._packing = Packing()
        self._stem: stems.Stem | None = None
        self._planted = 0
        """The first run beside which a stem was begun last."""
        self._served = 0
        self._ended = 0.0
        """When the last run had ended, on the monotonic clock."""

    def begin(self) -> None:
        """Start the run that was asked for first, if one was, while this process still imports what later runs need.

        From then on an alarm has an eye on it; what it comes to is told by `serve`.
        """
        if not _ready(self._requests) or not self._read_requests() or not self._queue:
            return
        gc.freeze()
        self._start(self._queue.pop(0))
        signal.signal(signal.SIGALRM, lambda *_: self._glance())
        signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)

    def _glance(self) -> None:
        for key, _ in self._selector.select(0):
            if key.data is not None and key.fd != key.data.ended:
                self._read_child(key.data, key.fd)
        for child in self._children.values():
            self._overdue(child, time.monotonic())

    def serve(self, fork: bool) -> None:
        """Until the host closes its end; then every run that is left is killed."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self._fork = self._fencing.fork = fork
        os.set_blocking(self._answers, False)
        gc.freeze()  # or the first full collection of each run would go through, and so copy, all of torch
        gc.enable()
        try:
            while self._wait():
                for child in self._supervise():
                    self._leave(child)
                while (request := self._next()) is not None:
                    self._start(request)
                self._tend()
                for child in [child for child in self._leaving if child.door < 0 or time.monotonic() > child.deadline]:
                    self._finish(child)  # after the start: clearing up takes as long, and a core would idle
                for request in self._queue[:_JOBS]:
                    self._fencing.prepare(request)
        finally:
            self._fell()
            for child in self._children.values():
                child.kill("crashed")
                with contextlib.suppress(OSError):
                    os.waitpid(child.pid, 0)
            for child in (*self._leaving, *self._children.values()):
                self._fencing.clear(child.place, ())
            self._fencing.forget()

    def _next(self) -> wire.Request | None:
        """The run to be started now, taken out of the queue; one that might go on from a stem waits for its turn."""
        stem = self._stem
        free = _JOBS - len(self._children) - (stem is not None and stem.growing)
        for request in self._queue if free > 0 else ():
            if stem is None or not stem.suits(request) or not (stem.worth_waiting or stem.promising):
                self._queue.remove(request)
                return request
        return None

    def _tend(self) -> None:
        """Have the beginning of a run that takes long executed once for those to come; end one that nobody wants."""
        stem = self._stem
        for child in self._children.values():
            self._learn(child.request)
        if stem is None:
            first = stems.wanted(self._children.values()) if self._fork and not self._queue else None
            free = len(self._children) < max(_JOBS, 2)  # of one core, the first run makes way
            if first is not None and free and first.request.id != self._planted:
                self._plant(first)
        elif stem.growing and (not stem.promising or stem.exceeds()):
            stem.stop()
        elif not stem.growing and stem.first.paused:
            self._replace(stem.first, stem)
        elif self._children:
            stem.used = time.monotonic()
        elif not stem.growing and not stem.idle:
            self._fell()

    def _learn(self, request: wire.Request) -> None:
        """Compile the script of a first run for those to come, while it goes on or once it is told of."""
        if request.mode == "baseline" and self._fork:
            known.learn(os.path.realpath(request.script))

    def _plant(self, first: Child) -> None:
        self._planted = first.request.id
        request = replace(first.request, id=-1, mode="stem", threads=1)
        try:
            place = self._fencing.place(request)
        except (isolate.Refused, OSError):
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        printed = {name: os.memfd_create(name) for name in ("stdout", "stderr")}
        try:
            if place.room is None:
                place.let_go()
                return
            pid = self._forked(place, {"result": theirs.fileno(), **printed})
        except OSError:
            place.let_go()
            ours.close()
            return
        finally:
            theirs.close()
            for descriptor in printed.values():
                os.close(descriptor)
        first.stem = True
        if _JOBS == 1:
            first.pause()
        self._stem = stems.Stem(place, place.room, pid, ours, first)
        self._selector.register(ours, selectors.EVENT_READ, self._stem)

    def _replace(self, first: Child, stem: stems.Stem) -> None:
        """Have a run that has waited go on from the beginning that was executed meanwhile, or by itself."""
        if first.status is None and self._resume(stem, first.request):
            first.kill(_REPLACED)
        first.go_on()

    def _fell(self) -> None:
        if self._stem is not None:
            self._unhear(self._stem)
            self._stem.end()
            self._stem = None

    def _unhear(self, stem: stems.Stem) -> None:
        if stem.orders in self._selector.get_map():
            self._selector.unregister(stem.orders)

    def _wait(self) -> bool:
        self._write()
        self._rest()
        for key, _ in self._selector.select(self._pause()):
            if key.fd == self._answers:
                self._write()
            elif isinstance(key.data, stems.Stem):
                key.data.hear()
                if not key.data.growing:
                    self._unhear(key.data)
            elif key.data is None:
                if not self._read_requests():
                    return False
            elif key.fd == key.data.ended:
                self._unwatch(key.data)
            elif key.fd == key.data.door:
                self._selector.unregister(key.fd)
                key.data.door = -1
            else:
                self._read_child(key.data, key.fd)
        self._write()
        return True

    def _rest(self) -> None:
        """Let go of rooms that are kept for more runs, once nobody asks for one: files may change beneath them."""
        if self._rests and time.monotonic() >= self._ended + _KEPT:
            self._fencing.rest()

    @property
    def _rests(self) -> bool:
        """Whether nobody wants a run."""
        return not (self._children or self._leaving or self._queue)

    def _answer(self, trace: wire.Trace) -> None:
        """Have a trace sent, when the host has been greeted."""
        self._unsent += codec.dump(trace)

    def _write(self) -> None:
        """Send what the host takes now: it may itself wait until its requests are read before it takes the rest."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._answers, self._unsent[: 1 << 16])]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent.clear()
        if bool(self._unsent) != (self._answers in self._selector.get_map()):
            if self._unsent:
                self._selector.register(self._answers, selectors.EVENT_WRITE)
            else:
                self._selector.unregister(self._answers)

    def _pause(self) -> float | None:
        """How long, in seconds, nothing is due unless something is heard: to wake more often would disturb the runs."""
        due = [child.deadline for child in self._leaving]
        if self._fencing.keeps and self._rests:
            due.append(self._ended + _KEPT)
        if self._stem is not None and not self._children:
            due.append(time.monotonic() + self._stem.idle)
        for child in self._children.values():
            if child.ended < 0:
                return _TICK
            due += (child.next_look, child.deadline)  # which is soon enough to see that a stem is worth its time
        return max(0.0, min(due) - time.monotonic()) if due else self._idle()

    def _idle(self) -> float | None:
        """How long to wait for a request, in seconds; who has asked for much will ask for more, so prepare for that."""
        many = self._fork and self._served >= _MANY
        return 0.0 if many and self._packing.step() else None

    def _read_requests(self) -> bool:
        data = os.read(self._requests, 1 << 16)
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            message = json.loads(line)
            if "cancel" in message:
                self._cancel(message["cancel"])
            elif "id" not in message:
                self._hurry(message["urgent"])
            else:
                request = codec.load(wire.Request, line)
                if request.mode in _FIRST and self._all_told:
                    self._begin_anew()  # files may be others by now
                self._enqueue(request)
        return bool(data)

    def _enqueue(self, request: wire.Request) -> None:
        waits = sum(other.urgent for other in self._queue) if request.urgent else len(self._queue)
        self._queue.insert(waits, request)

    def _hurry(self, number: int) -> None:
        """Have a run that somebody waits for begin before those that were asked for ahead of time."""
        for request in [request for request in self._queue if request.id == number and not request.urgent]:
            self._queue.remove(request)
            self._enqueue(replace(request, urgent=True))

    @property
    def _all_told(self) -> bool:
        """Whether the host waits for no run."""
        others = (*self._leaving, *self._children.values())
        return not self._queue and all(child.reported or child.verdict for child in others)

    def _begin_anew(self) -> None:
        """Have no run from now on in a room of one before."""
        self._fencing.rest()
        for child in (*self._leaving, *self._children.values()):
            child.place.last = True

    def _cancel(self, number: int) -> None:
        self._begin_anew()  # who gives up runs may go on with other files
        for child in self._children.values():
            if child.request.id == number:
                child.kill("timed_out")
        for request in [request for request in self._queue if request.id == number]:
            self._queue.remove(request)
            self._fencing.forget(request)
            self._answer(wire.Trace(request.id, "timed_out"))

    def _start(self, request: wire.Request, *, again: bool = True) -> None:
        if request.mode == "baseline" and self._stem is not None and not self._stem.serves(request):
            self._fell()
        stem = self._stem
        if stem is not None and not stem.busy and stem.suits(request) and self._resume(stem, request):
            self._fencing.forget(request)
            return
        try:
            place = self._fencing.place(request)
        except (isolate.Refused, OSError) as error:
            self._answer(wire.Trace(request.id, "cannot_run", f"isolation {request.isolation}: {error}"))
            return
        pipes, ends = _pipes()
        try:
            pid = self._forked(place, ends) if self._fork else spawn(place, ends)
        except OSError as error:  # no memory; or the room, which waited for its run, was killed, and others with it
            for descriptor in (*ends.values(), *pipes):
                os.close(descriptor)
            place.let_go()
            self._fencing.rest()
            if again:
                self._start(request, again=False)
            else:
                self._answer(wire.Trace(request.id, "cannot_run", f"no process can be started: {error}"))
            return
        for end in ends.values():
            os.close(end)
        child = Child(place, pid, pipes)
        child.deadline += 0.0 if self._fork else _IMPORTING
        with contextlib.suppress(OSError, AttributeError):  # not every system tells of an end without being asked
            child.ended = os.pidfd_open(pid)
        self._look_after(child)

    def _resume(self, stem: stems.Stem, request: wire.Request) -> bool:
        """Have a run go on from a stem, if it can."""
        pipes, ends = _pipes()
        child = stem.resume(request, pipes, ends)
        for descriptor in (*ends.values(), *(() if child is not None else pipes)):
            os.close(descriptor)
        if child is not None:
            self._look_after(child)
        return child is not None

    def _look_after(self, child: Child) -> None:
        self._children[child.pid] = child
        for descriptor in child.pipes:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, child)
        if child.ended >= 0:
            self._selector.register(child.ended, selectors.EVENT_READ, child)

    def _forked(self, place: Place, ends: dict[str, int]) -> int:
        pid = place.fork()
        if pid == 0:
            try:
                self._selector.close()
                os.close(self._requests)
                os.close(self._answers)
                become(place, ends)
            except BaseException:  # not the script's, which are caught where it runs; or nobody would know why it ended
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(70)
        return pid

    def _read_child(self, child: Child, descriptor: int) -> None:
        if descriptor not in child.pipes:  # it was read to its end with another one
            return
        try:
            data = os.read(descriptor, 1 << 18)
        except BlockingIOError:
            return
        name = child.pipes[descriptor]
        child.data[name] += data
        if not data:
            self._close(child, descriptor)
            if name == "result":
                self._report(child)
        elif name == "result" and (sign := child.signs()):
            self._unsent += sign
        elif name == "result" and len(child.data[name]) > RESULT_LIMIT:
            child.kill("crashed")
        elif len(child.data["stdout"]) + len(child.data["stderr"]) > child.request.output_limit:
            child.kill("output_exceeded")

    def _report(self, child: Child) -> None:
        """Tell the host what a run came to that has said so, while it still ends and its room is cleared.

        What a first run tried to write is told, too, and known only then.
        """
        if child.request.mode in _FIRST or child.place.room is None:
            return
        for descriptor in [one for one in child.pipes if _ready(one)]:
            self._read_child(child, descriptor)
        child.reported = child.report()
        if child.reported is not None:
            self._answer(child.reported)

    def _unwatch(self, child: Child) -> None:
        if child.ended >= 0:
            self._selector.unregister(child.ended)
            os.close(child.ended)
            child.ended = -1

    def _close(self, child: Child, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)
        del child.pipes[descriptor]

    def _supervise(self) -> list[Child]:
        """Look after the runs; returns those that have ended, which are then no longer among them."""
        now, ended = time.monotonic(), []
        for child in list(self._children.values()):
            if child.status is None:
                child.status = child.wait()
                if child.status is None:
                    self._overdue(child, now)
            if child.status is not None:
                child.over = now
                if isinstance(child, stems.Resumed):
                    child.origin.leave()
                del self._children[child.pid]
                ended.append(child)
        return ended

    @staticmethod
    def _overdue(child: Child, now: float) -> None:
        if now > child.deadline:
            child.kill("timed_out")
        elif now >= child.next_look:
            child.look(now)

    def _leave(self, child: Child) -> None:
        """Have the place of a run that has ended cleared; its door will tell when, and others are looked after."""
        for descriptor in list(child.pipes):
            while descriptor in child.pipes and _ready(descriptor):
                self._read_child(child, descriptor)
            if descriptor in child.pipes:  # a process that outlived the run still holds the other end
                self._close(child, descriptor)
        self._unwatch(child)
        self._leaving.append(child)
        child.deadline = time.monotonic() + _CLEARING
        if (door := child.place.leave()) >= 0:
            child.door = door
            self._selector.register(door, selectors.EVENT_READ, child)

    def _finish(self, child: Child) -> None:
        self._leaving.remove(child)
        self._ended = time.monotonic()
        if child.door >= 0:
            self._selector.unregister(child.door)
        self._served += 1
        wrote = self._fencing.clear(child.place, tuple(self._children))
        if child.verdict == _REPLACED:
            return
        trace = child.reported or child.trace(wrote)
        if child.reported is None:
            self._answer(trace)
            self._write()
        self._learn(child.request)
        if not self._fork:
            self._reap()
        self._load(trace)

    def _load(self, trace: wire.Trace) -> None:
        """Import what a run has loaded: the next one will, too."""
        missing = [name for name in wire.AHEAD if name in trace.loaded and name not in sys.modules]
        wanted = [*missing, *([dynamo.NAME] if trace.compiles and not dynamo.loaded() else ())]
        for name in wanted if self._fork else ():
            with contextlib.suppress(Exception, SystemExit):  # the run had another path
                dynamo.real() if name == dynamo.NAME else importlib.import_module(name)
        if wanted:
            gc.freeze()

    def _reap(self) -> None:
        """Let go of what ended runs in fresh processes left: who made their namespaces was then adopted here."""
        ended = os.WEXITED | os.WNOHANG
        with contextlib.suppress(ChildProcessError, AttributeError):
            while (one := os.waitid(os.P_ALL, 0, ended | os.WNOWAIT)) and one.si_pid not in self._children:
                os.waitid(os.P_PID, one.si_pid, ended)


def _pipes() -> tuple[dict[int, str], dict[str, int]]:
    """The pipes of a run: what each of our ends is for, and the run's end for each."""
    pairs = {name: os.pipe() for name in ("result", "stdout", "stderr")}
    return {ours: name for name, (ours, _) in pairs.items()}, {name: theirs for name, (_, theirs) in pairs.items()}


def _ready(descriptor: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(0))


def _send(descriptor: int, record: Any) -> None:
    with contextlib.suppress(BrokenPipeError):
        codec.send(descriptor, codec.dump(record))


def _hello(error: str, fork: bool, note: str) -> wire.Hello:
    torch = sys.modules.get("torch")
    version = getattr(torch, "__version__", "") if torch is not None else ""
    paths = tuple(path for path in sys.path if os.path.isdir(path))
    return wire.Hello(error, str(version), sys.executable, fork, note, paths)


def main(arguments: list[str]) -> None:
    """`--child FDS` is one run; otherwise serve: `[--fresh] [--stems=HOW] MODULE...` on standard input and output."""
    if arguments[:1] == ["--child"]:
        request = codec.load(wire.Request, sys.stdin.buffer.read())
        ends, rung, scratch = json.loads(arguments[1])
        become(Place(request, rung, scratch), ends)
    sys.dont_write_bytecode = True
    gc.disable()  # what is imported stays
    fencing = Fencing()
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host decides; a Ctrl-C reaches the whole group
    fresh = "--fresh" in arguments
    try:
        importlib.import_module("torch")
    except Exception as error:
        _send(answers, _hello(f"{type(error).__name__}: {error}"[:500], fork=False, note=""))
        return
    if old := too_old(sys.modules["torch"].__version__):
        _send(answers, _hello(old, fork=False, note=""))
        return
    dynamo.stand_in()
    server = Server(requests, answers, fencing)
    if not fresh and not unsound():
        server.begin()
    note = "fresh processes were asked for" if fresh else warm([one for one in arguments if not one.startswith("--")])
    stems.choose(next((one.partition("=")[2] for one in arguments if one.startswith("--stems=")), ""))
    _send(answers, _hello("", fork=not note, note=note))
    server.serve(fork=not note)
    os._exit(0)  # all is cleared up: taking torch apart, module by module, would take a second or more
