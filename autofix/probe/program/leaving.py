"""What a program failed of that ends its own process: it is told as if it had raised what it handles just then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .frames import Frames

leave = os._exit
"""Ends the process at once, whoever asks."""


def watch(frames: Frames, ended: Callable[[BaseException], NoReturn]) -> None:
    """Have `ended` hear of the exception that a line of the user's handles while it calls `os._exit`.

    A handler that logs an exception and leaves with a status failed of that exception. Whoever leaves otherwise does
    so, as do processes that the program forks, and packages.
    """
    forked: list[bool] = []

    def left(status: Any) -> None:
        error = sys.exception()
        if status and error is not None and not forked and frames.owned(_caller()):
            ended(error)
        leave(status)

    os.register_at_fork(after_in_child=lambda: forked.append(True))
    os._exit = left  # type: ignore[assignment]


def _caller() -> str:
    return os.path.realpath(sys._getframe(2).f_code.co_filename)
