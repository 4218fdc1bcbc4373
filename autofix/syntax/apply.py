"""Applying edits to a file's bytes, and proving that the result is still the same kind of file."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from autofix.core.aligned import opcodes
from autofix.core.edit import Edit, in_order
from autofix.syntax.source import Source, SourceError, encoding


class BrokenRewrite(Exception):  # noqa: N818 - names what came out
    """Edits whose result would not be the file they were meant for; the message is one line."""


def apply(source: Source, edits: Iterable[Edit]) -> bytes:
    """The file's bytes after the edits; every byte outside them is kept, and the result parses."""
    pieces: list[bytes] = []
    done = 0
    edits = in_order(edits)
    for edit in edits:
        if edit.path != source.path or edit.end > len(source.data):
            raise BrokenRewrite(f"{source.path}: an edit belongs to another file or version")
        try:
            text = edit.text.encode(source.encoding)
        except UnicodeEncodeError:
            raise BrokenRewrite(f"{source.path}: {source.encoding} cannot spell the new text") from None
        pieces += [source.data[done : edit.start], text]
        done = edit.end
    data = b"".join([*pieces, source.data[done:]])
    if _fits(source, edits, data):
        return data
    try:
        changed = Source(source.path, data, source)
    except SourceError as error:
        raise BrokenRewrite(f"the edit breaks the file: {error}") from None
    if changed.encoding != source.encoding:
        raise BrokenRewrite(f"{source.path}: the edit changes the file's encoding")
    if not _compiles(changed) and _compiles(source):
        raise BrokenRewrite(f"{source.path}: the edit puts a statement where Python does not allow it")
    return data


def _fits(source: Source, edits: Sequence[Edit], data: bytes) -> bool:
    """Whether the statements that the edits touch compile by themselves: then the file does, and need not be parsed.

    False says nothing. Those touched are statements of the module, whole lines of them, with a neighbour on each side.
    """
    if not edits or source.encoding != "utf-8" or any("__future__" in edit.text for edit in edits):
        return False
    start, end = source.lines_around(edits[0].start, edits[-1].end)
    if start == 0:  # the cookie may be there
        return False
    try:
        _compiled(data[start : end + len(data) - len(source.data)].decode(), str(source.path))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _compiles(source: Source) -> bool:
    """Whether what parses also compiles: a `return` may stand outside every function, for example."""
    try:
        _compiled(source.tree, str(source.path))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _compiled(code: str | ast.Module, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(code, name, "exec", dont_inherit=True)


def edits_between(path: Path, old: bytes, new: bytes) -> tuple[Edit, ...]:
    """The edits that turn `old` into `new`, by line: what a chain of rules came to, against the file on disk."""
    codec = encoding(new)
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [*accumulate(map(len, before), initial=0)]
    return tuple(
        Edit(path, starts[a], starts[b], b"".join(after[c:d]).decode(codec))
        for tag, a, b, c, d in opcodes(before, after)
        if tag != "equal"
    )
