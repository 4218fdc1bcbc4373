"""The editor's positions: lines from 0, columns in the units that client and server agreed on."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

_UNITS = {
    types.PositionEncodingKind.Utf8: ("utf-8", 1),
    types.PositionEncodingKind.Utf16: ("utf-16-le", 2),
    types.PositionEncodingKind.Utf32: ("utf-32-le", 4),
}


class Columns:
    """Counts the columns of one session."""

    def __init__(self, encoding: types.PositionEncodingKind | str | None) -> None:
        self._codec, self._size = _UNITS[types.PositionEncodingKind(encoding or types.PositionEncodingKind.Utf16)]

    def position(self, lines: Sequence[str], line: int, column: int) -> types.Position:
        """The place before the character `column` of a line, both counted from 0; the end of the text where beyond."""
        if line >= len(lines):
            if not lines or lines[-1].endswith(("\r", "\n")):
                return types.Position(len(lines), 0)
            line, column = len(lines) - 1, len(lines[-1])
        before = lines[line].rstrip("\r\n")[:column]
        return types.Position(line, len(before.encode(self._codec, "surrogatepass")) // self._size)


def touch(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges have a line in common: a cursor anywhere on the line is near enough."""
    return one.start.line <= other.end.line and other.start.line <= one.end.line
