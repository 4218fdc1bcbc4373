"""An exception as Python would print it, without the frames that are ours."""

from __future__ import annotations

import traceback

from .. import HERE

_MOST = 20_000
"""Characters; of a longer text the middle is left out."""


def text(error: BaseException) -> str:
    """The traceback with its message, and those of the exceptions behind it."""
    shown = traceback.TracebackException.from_exception(error)
    waiting = [shown]
    while waiting:
        one = waiting.pop()
        one.stack[:] = [frame for frame in one.stack if not frame.filename.startswith((HERE, "<frozen runpy"))]
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
        waiting += getattr(one, "exceptions", None) or ()
    whole = "".join(shown.format())
    half = _MOST // 2
    return whole if len(whole) <= _MOST else f"{whole[:half]}\n...\n{whole[-half:]}"
