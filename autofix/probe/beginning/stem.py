"""The beginning of a script, executed once, with forks that wait before its statements to go on as runs."""

from __future__ import annotations

import ast
import builtins
import gc
import os
import resource
import socket
import sys
import time
from types import CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

from ..child import Run
from ..fence import _linux, usage
from ..instruments.courses import Courses
from ..program.reach import Hosts
from . import forkable
from .exchange import Entries, noted
from .fork import Fork
from .inside import REST, WAIT, Inside, Waits
from .pieces import NotedSources, Piece, Place, compiled, decoded, flags_of, is_text, span_of
from .sourced import Sourced
from .watch import Errors, Replaceable, Watch

APART = 0.3
"""Seconds between two places where a fork waits, at least; or, of a long beginning, a tenth of it."""
_SHARE = 0.1
apart = APART
_AFTER_WRITE = 0.2
"""Of these, the part that lies between them where something is written again and again."""
_WRITES = frozenset({"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate"})
_IN_VAIN = 2.0
"""Seconds that it goes on where no fork may be left, beyond those that are shared already."""
_COMPILERS = ("numba",)
"""What compiles the code of functions by itself, notes and all."""
_DEFERRED = (3, 14)
"""From which Python on the annotations of a module belong together."""


class Stem:
    """Executes the script statement by statement; before some of them a fork of this process stays behind.

    It ends where instruments would begin to act. A fork serves one run after another, each in a fork of its own.
    """

    def __init__(self, run: Run, orders: int) -> None:
        self.run = run
        self._orders = socket.socket(fileno=orders)
        self._own = {orders}
        self.pid = os.getpid()
        self._left: set[int] = set()
        self.path = ""
        """The file of the script."""
        self.main: ModuleType | None = None
        self.flags = 0
        self.place: Place = ()
        """The statement of the module that is executed next, or now."""
        self.inside: Inside | None = None
        """Where in a function it waits, that this statement has called."""
        self.codes: list[CodeType] = []
        self.rest: FunctionType | None = None
        """In a run: what is left of the module, and of the function."""
        self.resumed: Run | None = None
        """The run that this process has become."""
        self._testing = self._wrote = False
        self.began = self._last = time.monotonic()
        self._frozen = gc.get_freeze_count()
        self.peak = 0

    def grow(self) -> NoReturn:
        """Run the script as far as runs agree, and further in forks that have become runs; does not return."""
        from ..program.launch import launch

        run, error = self.run, None
        self.outermost = run.frames.outermost = sys._getframe()
        try:
            run.seed()
            self._put_up()
            launch(run.request, self.sources, self._walk)
        except BaseException as raised:
            error = raised
        if self.resumed is None:
            os._exit(0)
        self.resumed.ended(error)

    def _put_up(self) -> None:
        run = self.run
        self.entries = Entries()
        self.sources = NotedSources(run.overlay, run.frames.owned)
        self.sources.install()
        self.watch = Watch(self._over)
        run.taps.listeners.append(self.watch)
        run.taps.broke = lambda _error: self._over()
        run.taps.install()
        self.sourced = Sourced(run)
        self.errors = Errors(self._over)
        self.errors.__enter__()
        self.starting = self.watch.watching()
        self.starting.__enter__()
        self.courses = Courses(run.taps, run.names, run.witness, run.guards)
        self.look_no_more = self.courses.install()
        self.replaceable = Replaceable()
        self.reach = Hosts()
        self.reach.install()
        sys.addaudithook(self._hear)
        run.adapted.arm(run, run.out_of_time, run.shown)
        setattr(builtins, WAIT, self._wait)
        setattr(builtins, REST, self._rest)

    def _over(self) -> NoReturn:
        """What comes now, each run has to do by itself."""
        os._exit(0)

    # Statement by statement -----------------------------------------------------------------------------------------

    def _walk(self, path: str, main: ModuleType) -> None:
        self.path, self.main = path, main
        self.sources.names[path] = path
        data = self.sources.read(path)
        tree, plain = ast.parse(data, path), ast.parse(data, path)
        if sys.version_info >= _DEFERRED and any(isinstance(node, ast.AnnAssign) for node in plain.body):
            return
        self.flags = flags_of(plain)
        self.waits = Waits(plain, decoded(data))
        self.waits.ask(tree)
        noted(tree)
        gc.freeze()  # the trees of a long script are millions of objects, which no later look at what lives need meet
        self._frozen = gc.get_freeze_count()
        self._statements(data, tree.body, plain.body, ())

    def _statements(self, data: bytes, body: list[ast.stmt], plain: list[ast.stmt], at: Place) -> None:
        assert self.main is not None  # noqa: S101
        space = self.main.__dict__
        for number, (node, old) in enumerate(zip(body, plain, strict=True)):
            self.place = (*at, number)
            self._perhaps_park()
            if self.resumed is None and isinstance(node, ast.If) and isinstance(old, ast.If):
                code, test = (compiled(one.test, self.path, self.flags) for one in (node, old))
                self._keep(data, Piece(self.place, True, code, test, span_of(old, test=True)))
                self._testing = True
                branch = "body" if eval(code, space) else "orelse"  # noqa: S307  the script's own test
                self._testing = False
                self._statements(data, getattr(node, branch), getattr(old, branch), (*at, number, branch))
            elif self.resumed is None and (not is_text(old) or self.place == (0,)):
                code, whole = (compiled([one], self.path, self.flags) for one in (node, old))
                self._keep(data, Piece(self.place, False, code, whole, span_of(old, test=False)))
                exec(code, space)
            if self.resumed is not None:
                while self.codes:
                    exec(self.codes.pop(0), space)
                return

    def _keep(self, data: bytes, piece: Piece) -> None:
        self.sources.keep(self.path, data, piece)

    # Inside a function that a statement called ----------------------------------------------------------------------

    def _wait(self, number: int, cells: Any) -> bool:
        if self._is_early() or self._testing:
            return False
        frame = sys._getframe(1)
        if id(frame.f_code) in self.entries.again:  # what is left of it has run before
            return False
        beneath = []
        outer = frame.f_back
        while outer is not None and outer is not self.outermost:
            beneath.append(outer.f_code)
            outer = outer.f_back
        if outer is None or not self.place or any(map(self.waits.knows, beneath)):
            return False
        self.inside = Inside(frame.f_code, number, cells, beneath)
        self._perhaps_park()
        self.inside = self.inside if self.resumed is not None else None
        return self.resumed is not None

    def _rest(self) -> Any:
        assert self.rest is not None  # noqa: S101
        return self.rest()

    # Forks ----------------------------------------------------------------------------------------------------------

    def _is_early(self) -> bool:
        """Whether a fork would save too little over the last, or nothing of the script has been executed.

        Where something was written since, no run goes on from the last any more.
        """
        now = time.monotonic()
        begun = self.resumed is None and self.path in self.sources.pieces
        since, least = (self.began, apart) if self._wrote else (self._last, self._apart(now))
        return not begun or now - since < least or now - self._last < _AFTER_WRITE * apart

    def _apart(self, now: float) -> float:
        return apart * max(1.0, _SHARE * (now - self.began) / APART)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        """Hear of what Python does to files."""
        opened = event == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        self._wrote = self._wrote or bool(opened) or event in _WRITES

    def _perhaps_park(self) -> None:
        forkable.without_shared_lock()
        if self._is_early():
            return
        forkable.flush()
        sourced = self.sourced.knows
        if self._is_hindered():
            now = time.monotonic()
            if now - self._last > _IN_VAIN + self._last - self.began:  # more is lost by now than is shared
                self._over()
            return
        self.entries.read |= forkable.had_children()  # what was called there, nobody has noted
        self._wrote = False
        self._last, self.peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        try:
            self._park(max(0.0, self._last - self.began - usage.queued()), sourced=sourced)
        except (OSError, ValueError):  # the script has closed what it did not open
            self._over()

    def _is_hindered(self) -> bool:
        """Whether a fork of this process would not go on as a run does."""
        if gc.get_freeze_count() > self._frozen or self.watch.shares() or self.watch.holds_graph():
            return True
        forkable.without_bars()
        compiles = any(name in sys.modules for name in _COMPILERS)
        return compiles or bool(forkable.hindrance(self._own, self._left))

    def _park(self, seconds: float, *, sourced: bool) -> None:
        """Leave a fork behind. Python's handlers for forks do not run, or they would draw other numbers there."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        files = forkable.Files({*self._own, here.fileno(), there.fileno()})
        pid = _linux.fork()
        if pid == 0:
            self._orders.close()
            there.close()
            Fork(self, here, files, seconds).serve()  # returns in a run
            return
        here.close()
        self._left.add(pid)
        told = b"%d %d %f %d %d" % (self.pid, pid, seconds, self.watch.moved, sourced)
        socket.send_fds(self._orders, [told], [there.fileno()])
        there.close()
        if not self._orders.recv(1):  # until it is known what files there are now
            self._over()
