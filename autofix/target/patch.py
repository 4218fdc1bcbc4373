"""Reading a unified diff that someone else made, and applying it strictly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from autofix.core.diff import split_lines

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_UNSUPPORTED = re.compile(rb"(rename|copy) (from|to) |GIT binary patch|Binary files |new mode |deleted file mode ")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_FURTHEST = 200


class PatchError(Exception):
    """A diff that cannot be read or does not fit; the message is one line."""


@dataclass(slots=True)
class _Hunk:
    line: int
    old: list[bytes] = field(default_factory=list)
    new: list[bytes] = field(default_factory=list)


def apply_patch(diff: bytes, read: Callable[[str], bytes]) -> dict[str, bytes]:
    """The new contents of the files that a diff changes, by path relative to where it applies."""
    changed: dict[str, bytes] = {}
    for name, hunks in _files(split_lines(diff)):
        before = changed[name] if name in changed else read(name)
        changed[name] = _patched(name, before, hunks)
    if not changed:
        raise PatchError("there is no unified diff in it")
    return changed


def _files(lines: list[bytes]) -> Iterator[tuple[str, list[_Hunk]]]:
    """The files of a diff with their hunks; mail headers and remarks around them are passed over."""
    place = 0
    while place < len(lines):
        if _UNSUPPORTED.match(lines[place]):
            raise PatchError(f"line {place + 1}: only changes of text files can be applied")
        if not _begins_file(lines, place):
            if _HUNK.match(lines[place]):
                raise PatchError(f"line {place + 1}: a hunk without a file name")
            place += 1
            continue
        name = _name(lines[place], lines[place + 1], place + 1)
        place += 2
        hunks: list[_Hunk] = []
        while place < len(lines) and _HUNK.match(lines[place]):
            place, hunk = _hunk(lines, place)
            hunks.append(hunk)
        if not hunks:
            raise PatchError(f"line {place}: {name} has no hunk")
        yield name, hunks


def _begins_file(lines: list[bytes], place: int) -> bool:
    following = lines[place + 1] if place + 1 < len(lines) else b""
    return lines[place].startswith(b"--- ") and following.startswith(b"+++ ")


def _name(old_line: bytes, new_line: bytes, line: int) -> str:
    """The one path that both header lines name."""
    old, new = _unquoted(old_line[4:]), _unquoted(new_line[4:])
    if "/dev/null" in {old, new}:
        raise PatchError(f"line {line}: it creates or deletes a file")
    if old.startswith("a/") and new.startswith("b/"):
        old, new = old[2:], new[2:]
    if old != new:
        raise PatchError(f"line {line}: it renames {old!r} to {new!r}")
    path = PurePosixPath(new)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in new:
        raise PatchError(f"line {line}: {new!r} is no path inside the project")
    return path.as_posix()


def _unquoted(text: bytes) -> str:
    text = text.rstrip(b"\r\n")
    if text.startswith(b'"') and (end := text.rfind(b'"')):
        text = _ESCAPE.sub(lambda match: _unescaped(match[1]), text[1:end])
    else:
        text = text.partition(b"\t")[0]  # a time may follow
    return text.decode("utf-8", "surrogateescape")


def _unescaped(escape: bytes) -> bytes:
    if escape.isdigit():
        return bytes([int(escape, 8) & 0xFF])
    return _ESCAPES.get(escape, escape)


def _hunk(lines: list[bytes], place: int) -> tuple[int, _Hunk]:
    """Read one hunk, by its own counts; returns the place after it."""
    match = _HUNK.match(lines[place])
    if match is None:
        raise PatchError(f"line {place + 1}: not a hunk")
    start, old_size, _, new_size = (int(text) if text is not None else 1 for text in match.groups())
    # With no old lines, the header names the line after which the new ones go.
    hunk = _Hunk(start - 1 if old_size else start)
    place += 1
    while len(hunk.old) < old_size or len(hunk.new) < new_size:
        line = lines[place] if place < len(lines) else b""
        sign, rest = line[:1], line[1:]
        if line in {b"\n", b"\r\n"}:  # mail and editors strip the space before an empty line
            sign, rest = b" ", line
        if sign not in {b" ", b"-", b"+"}:
            raise PatchError(f"line {place + 1}: the hunk ends too early")
        place += 1
        if place < len(lines) and lines[place].startswith(b"\\"):
            rest = rest.removesuffix(b"\n")
            place += 1
        if sign != b"+":
            hunk.old.append(rest)
        if sign != b"-":
            hunk.new.append(rest)
    if len(hunk.old) != old_size or len(hunk.new) != new_size:
        raise PatchError(f"line {place}: the hunk has more lines than its header says")
    return place, hunk


def _patched(name: str, data: bytes, hunks: list[_Hunk]) -> bytes:
    lines = split_lines(data)
    result: list[bytes] = []
    done = moved = 0
    for number, hunk in enumerate(hunks, start=1):
        places = _places(lines, hunk, hunk.line + moved, done)
        if len(places) != 1:
            reason = "fits two places equally well" if places else _mismatch(lines, hunk)
            raise PatchError(f"{name}: hunk {number} {reason}")
        moved = places[0] - hunk.line
        result += [*lines[done : places[0]], *hunk.new]
        done = places[0] + len(hunk.old)
    return b"".join([*result, *lines[done:]])


def _places(lines: list[bytes], hunk: _Hunk, expected: int, done: int) -> list[int]:
    """Where a hunk's old lines stand, as near as possible to where it expects them."""
    if not hunk.old:
        return [expected] if done <= expected <= len(lines) else []
    for distance in range(_FURTHEST + 1):
        found = [
            place
            for place in sorted({expected - distance, expected + distance})
            if done <= place and lines[place : place + len(hunk.old)] == hunk.old
        ]
        if found:
            return found
    return []


def _mismatch(lines: list[bytes], hunk: _Hunk) -> str:
    size, bare = len(hunk.old), [line.rstrip(b"\r\n") for line in hunk.old]
    parts = [lines[place : place + size] for place in range(len(lines))]
    alike = (part for part in parts if part != hunk.old)
    if bare and any([line.rstrip(b"\r\n") for line in part] == bare for part in alike):
        return "has other line endings than the file"
    return f"does not match the file near line {hunk.line + 1}"
