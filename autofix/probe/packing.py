"""Packs the server's memory into large pages: a fork then copies some hundred entries of a page table, not 50,000."""

from __future__ import annotations

import contextlib
import os

_LARGE = 2 << 20


class Packing:
    """The memory of this process that is still to be packed, in pieces of 2 MiB."""

    def __init__(self) -> None:
        self._pieces: list[int] | None = None

    def step(self) -> bool:
        """Pack the next piece, which takes some milliseconds; returns whether there may be more.

        Linux from 6.1 on; elsewhere nothing happens. What the memory holds stays as it is, and where.
        """
        if self._pieces is None:
            self._pieces = _pieces()
        if not self._pieces:
            return False
        from .fence import _linux

        with contextlib.suppress(OSError):  # a kernel that cannot, or a piece with a hole
            _linux.collapse(self._pieces.pop(), _LARGE)
        return True


def _pieces() -> list[int]:
    """Where the writable memory begins that is no file's, on whole large pages."""
    found: list[int] = []
    if os.path.exists("/proc/self/maps"):
        with open("/proc/self/maps") as maps:
            for line in maps:
                span, rights, _, _, inode = line.split()[:5]
                if rights == "rw-p" and inode == "0":
                    start, end = (int(one, 16) for one in span.split("-"))
                    found += range(-(-start // _LARGE) * _LARGE, end - _LARGE + 1, _LARGE)
    return found
