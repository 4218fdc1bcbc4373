"""A text in which each statement begins a line of its own, so that each can be left out by itself."""

from __future__ import annotations

import ast
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate

from autofix.verdict.parts.texts import parsed

_BLOCKS = ("body", "orelse", "finalbody")
_DEEPER = b"    "


def laid_out(text: bytes) -> tuple[bytes, list[int]]:
    """The text with `a; b` and `if x: a` on several lines, and for each of its lines the number that it had."""
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    found, last, numbers = [], 0, list(range(1, len(lines) + 1))
    for at, indent in sorted(_sharing(parsed(text), lines, starts)):
        found += [text[last:at].rstrip(b" \t").removesuffix(b";"), b"\n", indent]
        numbers.append(bisect(starts, at))
        last = at
    whole = b"".join([*found, text[last:]])
    same = not found or _dump(whole) == _dump(text)  # places count bytes of UTF-8, which a text may be none of
    return (whole, sorted(numbers)) if same else (text, list(range(1, len(lines) + 1)))


def _sharing(tree: ast.Module | None, lines: list[bytes], starts: list[int]) -> Iterator[tuple[int, bytes]]:
    """Where each statement begins that does not begin a line, and how deep it is to stand."""
    for owner in ast.walk(tree) if tree is not None else ():
        for block in (getattr(owner, name, None) for name in _BLOCKS):
            if not isinstance(block, list) or not block:  # the body of a lambda is no block
                continue
            indents = [lines[one.lineno - 1][: one.col_offset] for one in block]
            inside = indents[0] if not indents[0].strip() else _margin(lines[_line(owner) - 1]) + _DEEPER
            yield from (
                (starts[one.lineno - 1] + one.col_offset, inside)
                for one, before in zip(block, indents, strict=True)
                if before.strip()
            )


def _line(owner: ast.AST) -> int:
    return int(getattr(getattr(owner, "pattern", owner), "lineno", 1))


def _dump(text: bytes) -> str:
    return ast.dump(tree) if (tree := parsed(text)) is not None else ""


def _margin(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]
