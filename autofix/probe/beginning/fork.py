"""A fork of a stem: it waits for requests, and has each served by a fork of its own, which becomes the run."""

from __future__ import annotations

import os
import socket
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import codec, wire
from ..fence import _linux
from .exchange import Differs, Living
from .rest import Rest

if TYPE_CHECKING:
    from .forkable import Files
    from .stem import Stem


class Fork:
    """Beside a process that has gone on; nothing moves here but what `serve` forks."""

    def __init__(self, stem: Stem, orders: socket.socket, files: Files, seconds: float) -> None:
        self._stem, self._orders, self._files = stem, orders, files
        self._seconds = seconds
        """How long the beginning took up to here, without what it waited for a core."""

    def serve(self) -> None:
        """Have runs made of it until nobody asks any more; returns only in a run."""
        living = None
        os.setsid()  # or the stem's number would stay in use
        try:
            while True:
                message, given, _, _ = socket.recv_fds(self._orders, 1, 4)
                if not message:
                    os._exit(0)
                living = living or Living({*self._stem.sources.names.values()})
                pid = _linux.fork()
                if pid == 0:
                    break
                for descriptor in given:
                    os.close(descriptor)
                handle = os.pidfd_open(pid)
                socket.send_fds(self._orders, [b"P"], [handle])
                os.close(handle)
                self._orders.send(b"E%d" % os.waitpid(pid, 0)[1])
            self._become(given, living)
        except BaseException:  # not the script's, which are caught where it runs
            os.write(2, traceback.format_exc().encode())
            os._exit(70)

    def _become(self, given: list[int], living: Living) -> None:
        asked, result, stdout, stderr = given
        os.setsid()
        with open(asked, "rb") as file:
            request = codec.load(wire.Request, file.read())
        try:
            rest = Rest(self._stem, request, living)
        except (Differs, SyntaxError, OSError) as reason:
            self._orders.send(b"R" + str(reason).encode()[:500])
            os._exit(0)
        self._files.take_over(stdout, stderr)
        self._orders.send(b"G")
        self._orders.close()
        self._go_on(request, result, rest)

    def _go_on(self, request: wire.Request, result: int, rest: Rest) -> None:
        from ..child import Run

        stem, seconds = self._stem, self._seconds
        left = max(1.0, request.time_limit - seconds)
        run = Run(replace(request, time_limit=left, lead=max(0.0, request.lead - seconds)), result, stem=stem.run)
        run.resumed, run.began, run.peak = seconds, run.began - seconds, stem.peak
        run.overlay.marked.update(rest.marked)
        run.frames.outermost = stem.outermost
        rest.tell(run.frames)
        stem.codes, stem.rest = rest.codes, rest.function
        with run.adapted.beneath(run):
            stem.starting.__exit__(None, None, None)
            stem.errors.__exit__(None, None, None)
            stem.sourced.hand_on(run)
            stem.watch.retire()
            stem.look_no_more()
            stem.sources.change(lambda _path: False, lambda tree, _path: tree)
            run.overlay.install()
            run.arm()
        stem.replaceable.replace()
        stem.courses.hand_on(run.courses)
        if run.reach is not None:
            run.reach.found.update(stem.reach.found)
        run.adapted.again(run, run.out_of_time, run.shown)
        stem.watch.replay(run)
        run.signs.start()
        stem.resumed = run
