"""The two texts of an edit as lines: the new one with a statement as it was, such that it can be parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.core.aligned import opcodes
from autofix.verdict.parts.statements import Item, left_out

Change = tuple[int, int, list[bytes]]
"""The lines from the first to the second number, and what is to stand there."""


class Texts:
    """What an edit changes, and what it makes of it."""

    def __init__(self, before: list[bytes], after: list[bytes]) -> None:
        self._before, self._after = before, after
        self.stretches = opcodes(before, after)
        """Which lines of both are the same, in order, and what stands for what between them."""
        self.place: dict[int, int] = {}
        """For each old line, the new line before which it would stand."""
        for _, a, b, c, d in self.stretches:
            self.place.update({line: min(c + line - a, d) for line in range(a, b)})

    def without(
        self, mine: Item | None, other: Item | None, needs: Iterable[tuple[int, Item]], back: int
    ) -> bytes | None:
        """The new text with an old statement in place of a new one, or at a line, and what it needs, each at a line.

        None where that does not parse, as a statement that shares its line may not.
        """
        changes: list[Change] = []
        if mine and other and mine.exact[0] == other.exact[0] and self._stands_for(mine, other):
            by = other.node.col_offset - mine.node.col_offset
            lines = shifted(self._before[mine.start : mine.stop], by, self._after)
            # What is inside a new block stays behind a statement that has none.
            end, inside = left_out(other, self._after)[1:] if mine.stop == mine.end else (other.stop, [])
            changes.append((other.start, end, [*lines, *inside]))
        else:
            changes += [self._put_back(mine, back)] if mine else []
            changes += [left_out(other, self._after)] if other else []
        changes += [(there, there, self._before[one.start : one.end]) for there, one in needs]
        found = (changed(self._after, some) for some in (changes, *self._otherwise(changes)))
        return next((text for text in found if parsed(text) is not None), None)

    def _stands_for(self, mine: Item, other: Item) -> bool:
        """Whether the new one stands where the old one stood, or begins before that with what it got in addition."""
        return other.start <= self.place[mine.start] < other.stop or side_by_side(mine, other, self.stretches)

    def _put_back(self, mine: Item, back: int) -> Change:
        """An old statement at a line; the head of a block around what was in it."""
        start, lines = self.place[mine.start], self._before[mine.start : mine.stop]
        if mine.stop == mine.end:
            return back, back, lines
        body = self._after[start : self.place.get(mine.end, len(self._after))]
        by = _depth(self._before[mine.stop :]) - _depth(body)
        return start, start + len(body), [*lines, *shifted(body, by, self._after)]

    def _otherwise(self, changes: list[Change]) -> Iterator[list[Change]]:
        """The same where that does not parse: a block that would be empty passes, what comes back stands as deep."""
        filled = [(a, b, text or passing(self._after[a])) if b > a else (a, b, text) for a, b, text in changes]
        yield filled
        for near in (0, -1):
            yield [
                (a, b, shifted(text, _depth(self._after[a + near : a + near + 1]) - _depth(text), self._after))
                if a == b else (a, b, text)
                for a, b, text in filled
            ]  # fmt: skip


def parsed(text: bytes) -> ast.Module | None:
    """The syntax of a text; None where it is none of Python's."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def changed(lines: list[bytes], changes: Iterable[Change]) -> bytes:
    """A text with some of its lines replaced."""
    lines = list(lines)
    # What goes, before what comes.
    for start, stop, others in sorted(changes, key=lambda change: (-change[0], -change[1])):
        lines[start:stop] = others
    return b"".join(lines)


def shifted(lines: list[bytes], by: int, text: list[bytes]) -> list[bytes]:
    """Lines that are indented by some more characters, each a tab where the text has tabs."""
    unit = b"\t" if any(line.startswith(b"\t") for line in text) else b" "
    return [unit * by + line if by >= 0 else line[-by:] if line[:-by].isspace() else line for line in lines]


def passed_over(item: Item, text: list[bytes]) -> Change:
    """The change that puts `pass` in place of a statement."""
    return item.start, item.end, passing(text[item.start])


def passing(line: bytes) -> list[bytes]:
    """A `pass` that stands as deep as a line."""
    return [line[: _depth([line])] + b"pass\n"]


def side_by_side(mine: Item, other: Item, stretches: Iterable[tuple[str, int, int, int, int]]) -> bool:
    """Whether a new statement stands where the old one stood, with nothing that was kept between them."""
    return any(a <= mine.start < b and c <= other.start < d for _, a, b, c, d in stretches)


def _depth(lines: list[bytes]) -> int:
    """How many characters the first line that is not empty is indented by."""
    return next((len(line) - len(line.lstrip()) for line in lines if line.strip()), 0)
