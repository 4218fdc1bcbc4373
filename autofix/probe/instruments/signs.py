"""Signs of life: where a long run is, told while it goes on."""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import codec, wire

if TYPE_CHECKING:
    from .state import State

FIRST, EVERY = 2.0, 1.0
"""Seconds before the first sign, and between two."""


class Signs:
    """Tells, from a thread of its own, what the main thread is at.

    No thread that the script could find: one that joins all of its threads would wait for this one for ever.
    """

    def __init__(self, run: State, send: Callable[[bytes], None]) -> None:
        self._run, self._send = run, send
        self._main = threading.get_ident()
        self._began = time.monotonic()
        self._sending = _thread.allocate_lock()

    def start(self) -> None:
        """From now on, until the run ends."""
        _thread.start_new_thread(self._tell, ())

    def stop(self) -> None:
        """No sign comes behind what is sent next."""
        self._sending.acquire(timeout=1.0)

    def _tell(self) -> None:
        pause = FIRST
        while True:
            time.sleep(pause)
            pause = EVERY
            with self._sending:
                self._send(codec.dump(self._sign()))

    def _sign(self) -> wire.Sign:
        frames, taps = self._run.frames, self._run.taps
        frame = next(frames.running(sys._current_frames().get(self._main)), None)
        file, line = (os.path.basename(frame.f_code.co_filename), frame.f_lineno or 0) if frame is not None else ("", 0)
        seconds = time.monotonic() - self._began
        return wire.Sign(self._run.request.id, taps.calls, sum(taps.counts), file, line, seconds)
