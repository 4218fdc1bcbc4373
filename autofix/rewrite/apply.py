"""Applying edits to a file's bytes, and proving that the result is still the same kind of file."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from autofix.edit import Edit, in_order
from autofix.source import Source, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable


class BrokenRewrite(Exception):  # noqa: N818 - names what came out
    """Edits whose result would not be the file they were meant for; the message is one line."""


def apply(source: Source, edits: Iterable[Edit]) -> bytes:
    """The file's bytes after the edits; every byte outside them is kept, and the result parses."""
    pieces: list[bytes] = []
    done = 0
    for edit in in_order(edits):
        if edit.path != source.path or edit.end > len(source.data):
            raise BrokenRewrite(f"{source.path}: an edit belongs to another file or version")
        try:
            text = edit.text.encode(source.encoding)
        except UnicodeEncodeError:
            raise BrokenRewrite(f"{source.path}: {source.encoding} cannot spell the new text") from None
        pieces += [source.data[done : edit.start], text]
        done = edit.end
    data = b"".join([*pieces, source.data[done:]])
    try:
        changed = Source(source.path, data)
    except SourceError as error:
        raise BrokenRewrite(f"the edit breaks the file: {error}") from None
    if changed.encoding != source.encoding:
        raise BrokenRewrite(f"{source.path}: the edit changes the file's encoding")
    if not _compiles(changed) and _compiles(source):
        raise BrokenRewrite(f"{source.path}: the edit puts a statement where Python does not allow it")
    return data


def _compiles(source: Source) -> bool:
    """Whether what parses also compiles: a `return` may stand outside every function, for example."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source.tree, str(source.path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def edit(source: Source, start: int, end: int, text: str) -> Edit:
    """An edit from indices into the source's text."""
    return Edit(source.path, source.data_offset(start), source.data_offset(end), text)
