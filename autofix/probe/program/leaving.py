"""How a program ends that ends its own process: by what it raised and handles just then, or as by `sys.exit`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .frames import Frames

leave = os._exit
"""Ends the process at once, whoever asks."""


def watch(frames: Frames, ended: Callable[[BaseException], NoReturn]) -> None:
    """Have `ended` hear of what a line of the user's ends the process with by `os._exit`.

    A handler that logs an exception and leaves with a status failed of that exception; who leaves otherwise ends as by
    `sys.exit`. Processes that the program forks just leave, and so do packages.
    """
    forked: list[bool] = []

    def left(status: Any) -> None:
        if not forked and frames.owned(_caller()):
            ended((sys.exception() if status else None) or SystemExit(status))
        leave(status)

    os.register_at_fork(after_in_child=lambda: forked.append(True))
    os._exit = left  # type: ignore[assignment]


def _caller() -> str:
    return os.path.realpath(sys._getframe(2).f_code.co_filename)
