"""Unified diffs, as bytes, that `git apply` and `patch -p1` take whatever the files' encodings are."""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from autofix.core.aligned import Code, opcodes

_CONTEXT = 3
_ESCAPES = {0x07: "a", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0B: "v", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


def unified_diff(changes: Mapping[Path, tuple[bytes, bytes]], root: Path) -> bytes:
    """The diff of several files, named relative to `root`; unchanged files leave no trace in it."""
    pieces: list[bytes] = []
    for path in sorted(changes):
        before, after = changes[path]
        if before != after:
            name = path.relative_to(root).as_posix()
            pieces += [b"--- ", header("a/" + name), b"\n+++ ", header("b/" + name), b"\n"]
            pieces += _hunks(before, after)
    return b"".join(pieces)


def header(name: str) -> bytes:
    """A file name as git writes it: quoted where a reader could misread it, with a tab after spaces."""
    raw = name.encode("utf-8", "surrogateescape")
    if any(byte in _ESCAPES or byte < 0x20 or byte == 0x7F for byte in raw):  # noqa: PLR2004 - ASCII
        return b'"' + b"".join(map(_escaped, raw)) + b'"'
    return raw + b"\t" if b" " in raw else raw


def split_lines(data: bytes) -> list[bytes]:
    """Lines as git and patch see them: only a line feed ends one."""
    return io.BytesIO(data).readlines()


def _escaped(byte: int) -> bytes:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}".encode()
    return bytes([byte]) if byte >= 0x20 and byte != 0x7F else f"\\{byte:03o}".encode()  # noqa: PLR2004 - ASCII


def _hunks(before: bytes, after: bytes) -> Iterator[bytes]:
    old, new = split_lines(before), split_lines(after)
    for group in _groups(old, new):
        yield _range_line(group)
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (_line(b" ", line) for line in old[old_start:old_end])
            else:
                yield from (_line(b"-", line) for line in old[old_start:old_end])
                yield from (_line(b"+", line) for line in new[new_start:new_end])


def _groups(old: list[bytes], new: list[bytes]) -> Iterator[list[Code]]:
    """Changes with their context."""
    matcher = difflib.SequenceMatcher[bytes](None)
    matcher.opcodes = opcodes(old, new)  # type: ignore[attr-defined]  # what it groups, where it is known already
    return iter(matcher.get_grouped_opcodes(_CONTEXT))


def _range_line(group: list[Code]) -> bytes:
    first, last = group[0], group[-1]
    old, new = _range(first[1], last[2]), _range(first[3], last[4])
    return f"@@ -{old} +{new} @@\n".encode()


def _range(start: int, end: int) -> str:
    size = end - start
    begin = start + 1 if size else start  # an empty range names the line before it
    return f"{begin}" if size == 1 else f"{begin},{size}"


def _line(sign: bytes, line: bytes) -> bytes:
    return sign + line if line.endswith(b"\n") else sign + line + _NO_NEWLINE
