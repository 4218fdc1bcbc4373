"""A Python file, read once: its bytes, its text and tree, and the way between their positions.

Three units meet here and nowhere else. The disk has bytes in the file's own encoding (`data`
offsets); `ast` and `co_positions()` have 1-based lines with UTF-8 byte columns, whatever the file's
encoding is; people count characters. Text is kept with its own newlines and indexed by character.
"""

from __future__ import annotations

import ast
import gc
import itertools
import re
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path

# Only these end a line for Python; str.splitlines would also cut at form feeds, U+2028 and others.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_BOM = b"\xef\xbb\xbf"
# One object stands for all its occurrences in a tree, so "its parent" has no answer.
_SHARED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_EXACT_INSIDE_F_STRINGS = sys.version_info >= (3, 12)

_QUOTED = re.compile("\\w*[\"']")
_BYTES_OF_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n)?")
_WORD = re.compile(r"\b[^\W\d]\w*")

Position = tuple[int, int, int, int]
"""Line, column, end line, end column; where nothing else is said as `ast` and `co_positions()` have them, in UTF-8."""


class SourceError(Exception):
    """A file that cannot be read as Python; the message is one line."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of byte offsets into a file's data."""

    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Source:
    """One file as it was when read, and valid Python: what is not raises `SourceError` at once."""

    path: Path
    data: bytes
    other: Source | None = field(default=None, repr=False)
    """Another version of the file: the trees of statements that are the same in both are shared."""
    # Filled a statement of the module at a time, as a long file is seldom asked about in many places.
    _parents: dict[ast.AST, ast.AST] = field(default_factory=dict, init=False, repr=False)
    _positions: dict[int, dict[Position, list[ast.AST]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Parse now, so that whoever holds a source need not expect errors from it."""
        self._check_spelling()
        _ = self.tree

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read and parse a file."""
        try:
            return cls(path, path.read_bytes())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SourceError(f"{path}: {reason}") from None

    @cached_property
    def encoding(self) -> str:
        """The codec of the file's bytes after a byte order mark, found as Python finds it."""
        try:
            return encoding(self.data)
        except SyntaxError as error:
            raise self._error(error.msg) from None

    @cached_property
    def text(self) -> str:
        """The file's characters without a byte order mark, newlines as they are on disk."""
        try:
            text = self.data[self._bom :].decode(self.encoding)
        except (UnicodeError, LookupError) as error:
            raise self._error(f"cannot be decoded as {self.encoding}: {error}") from None
        return text

    @cached_property
    def tree(self) -> ast.Module:
        """The module as Python's own parser sees it."""
        shared = self._shared(self.other) if self.other is not None else None
        return shared or parse(self.path, self.data)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The physical lines, each with its own newline."""
        return split(self.text)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """For each line, the index in `text` where it begins; then the length of `text`."""
        return tuple(accumulate(map(len, self.lines), initial=0))

    @cached_property
    def _bom(self) -> int:
        return len(_BOM) if self.data.startswith(_BOM) else 0

    @cached_property
    def _data_starts(self) -> tuple[int, ...]:
        """For each line, the offset in `data` where it begins; then the length of `data`."""
        plain = self.encoding == "utf-8" and self.text.isascii()
        lines = self.lines if plain else (line.encode(self.encoding) for line in self.lines)
        return tuple(accumulate(map(len, lines), initial=self._bom))

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that its imports bind, wherever they stand."""
        return frozenset(
            name.asname or name.name.partition(".")[0]
            for node in self.mentioning("import")
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in node.names
        )

    @cached_property
    def definitions(self) -> dict[str, list[ast.AST]]:
        """Its functions and classes, wherever they stand, by their names."""
        found: dict[str, list[ast.AST]] = {}
        for node in _statements(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.setdefault(node.name, []).append(node)
        return found

    # --- positions -------------------------------------------------------------------------

    def index(self, line: int, column: int) -> int:
        """The index in `text` of a line and UTF-8 column."""
        content = self._line(line)
        encoded = content if content.isascii() else content.encode()
        if not 0 <= column <= len(encoded):
            raise self._error(f"line {line} has no column {column}")
        if isinstance(encoded, str):
            return self.starts[line - 1] + column
        try:
            return self.starts[line - 1] + len(encoded[:column].decode())
        except UnicodeError:
            raise self._error(f"line {line} has no character at byte {column}") from None

    def data_offset(self, index: int) -> int:
        """The offset in `data` of an index in `text`."""
        line = self._line_of(index, self.starts)
        start = self._data_starts[line]
        before = self.lines[line][: index - self.starts[line]] if line < len(self.lines) else ""
        encoded = before.encode(self.encoding)
        # A codec with shift states (iso-2022-jp) has no bytes for a cut in the middle of a run.
        if self.data[start : start + len(encoded)] != encoded:
            raise self._error(f"line {line + 1} cannot be cut there in {self.encoding}")
        return start + len(encoded)

    def offset(self, line: int, column: int) -> int:
        """The offset in `data` of a line and UTF-8 column."""
        return self.data_offset(self.index(line, column))

    def position(self, offset: int) -> tuple[int, int]:
        """The line and UTF-8 column of an offset in `data`; the way back from `offset`."""
        if not self._bom <= offset <= len(self.data):
            raise self._error(f"has no byte {offset}")
        line = self._line_of(offset, self._data_starts)
        before = self.data[self._data_starts[line] : offset]
        try:
            return line + 1, len(before.decode(self.encoding).encode())
        except UnicodeError:
            raise self._error(f"byte {offset} is inside a character") from None

    def lines_around(self, start: int, end: int) -> tuple[int, int]:
        """The range of `data` that holds the statements of the module between two offsets, with one more on each side.

        It is made of whole lines, and no statement of the module begins before it and ends in it.
        """
        return self._lines_of(*self._around(start, end))

    def differing(self, new: bytes) -> tuple[bytes, bytes]:
        """The statements of the module that another version of the file has otherwise, there and here: here first.

        They are whole lines, with a neighbour on each side.
        """
        start, end = self._lines_of(*self._apart(new))
        return self.data[start:end], new[start : end + len(new) - len(self.data)]

    def apart(self, new: Source) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """As `differing`, the statements themselves."""
        low, high = self._apart(new.data)
        return self.tree.body[low:high], new.tree.body[low : high + len(new.tree.body) - len(self.tree.body)]

    def _apart(self, new: bytes) -> tuple[int, int]:
        alike = _alike(self.data, new)
        behind = _alike(self.data[alike:][::-1], new[alike:][::-1])
        return self._around(max(alike, self._bom), max(len(self.data) - behind, self._bom))

    def _around(self, start: int, end: int) -> tuple[int, int]:
        """Which statements of the module `lines_around` gives the lines of."""
        body, firsts = self.tree.body, self._firsts
        low = max(0, bisect_right(firsts, self._line_of(start, self._data_starts) + 1) - 2)
        while low > 0 and firsts[low] <= (body[low - 1].end_lineno or 0):
            low -= 1
        high = min(len(body), bisect_right(firsts, self._line_of(end, self._data_starts) + 1) + 1)
        while 0 < high < len(body) and firsts[high] <= (body[high - 1].end_lineno or 0):
            high += 1
        return low, high

    def _lines_of(self, low: int, high: int) -> tuple[int, int]:
        firsts, starts = self._firsts, self._data_starts
        return starts[firsts[low] - 1] if low else 0, starts[firsts[high] - 1] if high < len(firsts) else len(self.data)

    def _shared(self, other: Source) -> ast.Module | None:
        """The tree, of which what stands before what differs is that of another version; so is the rest on its lines.

        None where all has to be parsed, as where the encoding or the first statement may be another.
        """
        low, high = other._apart(self.data)
        start, end = other._lines_of(low, high)
        if start == 0 or other.encoding != "utf-8" or self.data.startswith(b"\n", start):  # perhaps the end of a \r\n
            return None
        end += len(self.data) - len(other.data)
        try:
            differing, rest = self.data[start:end].decode(), self.data[end:].decode()
            moved = len(split(differing)) != other._firsts[high] - other._firsts[low] if rest else False
            parsed = parse(self.path, differing + rest if moved else differing)
        except (SourceError, UnicodeError):
            return None
        ast.increment_lineno(parsed, other._firsts[low] - 1)
        behind = [] if moved else other.tree.body[high:]
        return ast.Module([*other.tree.body[:low], *parsed.body, *behind], [])

    def extent(self, node: ast.AST) -> tuple[int, int]:
        """Where a node's text begins and ends in `text`."""
        line, column, end_line, end_column = _position(node)
        return self.index(line, column), self.index(end_line, end_column)

    def span(self, node: ast.AST) -> Span:
        """Where a node's text begins and ends in `data`."""
        start, end = self.extent(node)
        return Span(self.data_offset(start), self.data_offset(end))

    def segment(self, node: ast.AST) -> str:
        """A node's exact text."""
        start, end = self.extent(node)
        return self.text[start:end]

    def characters(self, start: int, end: int) -> Position:
        """A range of `data` in lines and characters, both counted from 1; the end is exclusive."""
        (line, column), (end_line, end_column) = map(self.position, (start, end))
        return line, self.character_column(line, column), end_line, self.character_column(end_line, end_column)

    def line_text(self, line: int) -> str:
        """One line without its newline."""
        return self._line(line).rstrip("\r\n")

    def character_column(self, line: int, column: int) -> int:
        """The column that people and editors count, from 1, of a UTF-8 column."""
        return self.index(line, column) - self.starts[line - 1] + 1

    # --- nodes -----------------------------------------------------------------------------

    def walk(self, node: ast.AST | None = None) -> Iterator[ast.AST]:
        """The nodes of the tree, or of one node, as `ast.walk` gives them; the tree itself is walked once."""
        return iter(self._nodes) if node is None or node is self.tree else ast.walk(node)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    def mentioning(self, code: str, scope: ast.AST | None = None) -> Iterator[ast.AST]:
        """As `walk`, but only in statements of the module that have all names of a piece of code in their text.

        Whatever is spelled so is among these nodes; in a long file they are few. Of a function, `scope`, all are given.
        """
        words = self._words(code)
        if not words or scope not in (None, self.tree):
            return self.walk(scope)
        lines = (self._line_of(place, self.starts) + 1 for place in self.places(words[-1]))
        chosen = {index for line in lines for index in self._holding(line)}
        return self._in(index for index in chosen if self.spells(self.tree.body[index], code))

    def spells(self, statement: ast.stmt, code: str) -> bool:
        """Whether the lines of a statement have all names of a piece of code, which it else has nowhere in it."""
        lines = self.whole_lines(statement)
        return all(any(True for _ in self.places(word, *lines)) for word in self._words(code))

    def places(self, word: str, start: int = 0, end: int = sys.maxsize) -> Iterator[int]:
        """Where a word stands in `text`, between two places of it."""
        # What begins with the word itself is found a hundred times sooner than what begins with a boundary.
        pattern = re.compile(rf"{word}(?<!\w{word})\b")
        return (found.start() for found in pattern.finditer(self.text, start, end))

    def whole_lines(self, statement: ast.stmt) -> tuple[int, int]:
        """Where the lines of a statement begin and end in `text`, those of its decorators among them."""
        return self.starts[_first(statement) - 1], self.starts[statement.end_lineno or statement.lineno]

    def _words(self, code: str) -> list[str]:
        """The names of a piece of code, the rarest last, as a rule; none where one may have several spellings."""
        return sorted(_WORD.findall(_QUOTED.split(code)[0]), key=len) if self.text.isascii() else []

    def on_lines(self, lines: Iterable[int]) -> Iterator[ast.AST]:
        """As `walk`, but only in statements of the module that stand on some lines."""
        return self._in({index for line in lines for index in self._holding(line)})

    def _in(self, chosen: Iterable[int]) -> Iterator[ast.AST]:
        return itertools.islice(ast.walk(ast.Module([self.tree.body[one] for one in sorted(chosen)], [])), 1, None)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one; None for the module and for shared operator objects."""
        if isinstance(node, (ast.Module, *_SHARED)):
            return None
        if node not in self._parents:
            # Where a position inside an f-string is another place's, every statement has to be looked through.
            for index in (*self._holding(getattr(node, "lineno", 0)), *range(len(self.tree.body))):
                self._learn(index)
                if node in self._parents:
                    break
        return self._parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around one, innermost first, as far as the module."""
        found = self.parent(node)
        while found is not None:
            yield found
            found = self.parent(found)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is, or is part of."""
        found = next((one for one in (node, *self.around(node)) if isinstance(one, ast.stmt)), None)
        if found is None:
            raise ValueError(f"{type(node).__name__} is not part of a statement of {self.path}")
        return found

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function whose body runs a node; a decorator or default runs outside its function."""
        for child, found in itertools.pairwise((node, *self.around(node))):
            if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) and child in found.body:
                return found
        return None

    def node_at(self, span: Position) -> ast.AST | None:
        """The one node that an interpreter's position means, or None; never a guess."""
        nodes = [node for index in self._holding(span[0]) for node in self._by_position(index).get(span, ())]
        expressions = [node for node in nodes if isinstance(node, ast.expr)]
        statements = [node for node in nodes if isinstance(node, ast.stmt)]
        for found in (expressions, statements, self._split(span)):
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def _split(self, span: Position) -> list[ast.expr]:
        """Expressions over several lines of which interpreters report only the last name on.

        Where `x` and `.back()` have a line each, the position is that of `back()`. Its end is right; its
        start not always, as interpreters count the name's characters where columns are bytes.
        """
        line, column, *end = span
        return [
            node
            for node in self._ending(end[0], end[1])
            if node.lineno < line == _attribute(node).end_lineno and column < (_attribute(node).end_col_offset or 0)
        ]

    @cached_property
    def _firsts(self) -> list[int]:
        """For each statement of the module, the line on which it or its first decorator begins."""
        return [*map(_first, self.tree.body)]

    def _holding(self, line: int) -> range:
        """Which statements of the module stand on a line; there are several only around a semicolon."""
        high = low = bisect_right(self._firsts, line)
        while low > 0 and (self.tree.body[low - 1].end_lineno or 0) >= line:
            low -= 1
        return range(low, high)

    def _learn(self, index: int) -> None:
        """Enter the parents of all nodes of a statement of the module."""
        statement = self.tree.body[index]
        if statement in self._parents:
            return
        self._parents[statement] = self.tree
        for node in ast.walk(statement):
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, _SHARED):
                    self._parents[child] = node

    def _by_position(self, index: int) -> dict[Position, list[ast.AST]]:
        """The nodes of a statement of the module by their positions."""
        if index in self._positions:
            return self._positions[index]
        found = self._positions[index] = {}
        pending: list[ast.AST] = [self.tree.body[index]]
        while pending:
            node = pending.pop()
            if hasattr(node, "end_lineno"):
                found.setdefault(_position(node), []).append(node)
            # Before 3.12 the positions inside an f-string are often those of another place.
            if _EXACT_INSIDE_F_STRINGS or not isinstance(node, ast.JoinedStr):
                pending.extend(ast.iter_child_nodes(node))
        return found

    def _ending(self, line: int, column: int) -> Iterator[ast.expr]:
        """Attributes and calls of attributes that end at a place."""
        for index in self._holding(line):
            for (_, _, *end), nodes in self._by_position(index).items():
                if end == [line, column]:
                    yield from (
                        node
                        for node in nodes
                        if isinstance(node, ast.Attribute)
                        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
                    )

    # --- helpers ---------------------------------------------------------------------------

    def _check_spelling(self) -> None:
        """Refuse bytes that a codec reads but writes otherwise: no offset into them could be trusted."""
        if self.encoding != "utf-8" and b"".join(line.encode(self.encoding) for line in self.lines) != self.data:
            raise self._error(f"its {self.encoding} bytes are not the only spelling of its text")

    def _line(self, line: int) -> str:
        """One line with its newline; past a final newline stands an empty one."""
        if 1 <= line <= len(self.lines):
            return self.lines[line - 1]
        if line == len(self.lines) + 1:
            return ""
        raise self._error(f"has no line {line}")

    def _line_of(self, place: int, starts: tuple[int, ...]) -> int:
        """Which line, from 0, holds a place, given where the lines start."""
        if not starts[0] <= place <= starts[-1]:
            raise self._error(f"has no place {place}")
        return min(bisect_right(starts, place), len(starts)) - 1

    def _error(self, reason: str) -> SourceError:
        return _unreadable(self.path, reason)


def _unreadable(path: Path, reason: str) -> SourceError:
    return SourceError(" ".join(f"{path}: {reason}".split()))


def parse(path: Path, data: bytes | str) -> ast.Module:
    """The tree of a file's bytes, or of its text, by Python's own parser; raises SourceError for what is no Python."""
    collects = gc.isenabled()
    gc.disable()  # of a tree nothing is garbage: to look for it, again and again, takes longer than to parse
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's invalid escapes are not our news
            return ast.parse(data, filename=str(path))
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise _unreadable(path, f"{where}{error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _unreadable(path, f"cannot be parsed: {error}") from None
    finally:
        if collects:
            gc.enable()


def split(text: str) -> tuple[str, ...]:
    """The lines of a text, each with its end; as Python and editors end lines, not as `str.splitlines` does."""
    return tuple(_LINE.findall(text))


BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where nodes keep statements and what is made of statements."""


def within(node: ast.AST) -> Iterator[ast.AST]:
    """What is made of statements directly in a node: statements, handlers, cases."""
    for name in BLOCKS:
        held = getattr(node, name, None)
        if isinstance(held, list):
            yield from held


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in within(node):
        yield child
        yield from _statements(child)


def _first(statement: ast.stmt) -> int:
    """The line on which a statement or its first decorator begins."""
    return min((one.lineno for one in getattr(statement, "decorator_list", ())), default=statement.lineno)


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def encoding(data: bytes) -> str:
    """The codec of a Python file's bytes after a byte order mark; raises SyntaxError where Python knows none."""
    # Python ends lines at a lone \r too, where a BytesIO would not: it matters for the cookie.
    lines = _BYTES_OF_LINE.finditer(data)
    found, _ = tokenize.detect_encoding(lambda: next(lines)[0])
    return "utf-8" if found == "utf-8-sig" else found


def _attribute(node: ast.expr) -> ast.expr:
    """The attribute that a call calls, or the node itself."""
    return node.func if isinstance(node, ast.Call) else node


def _position(node: ast.AST) -> Position:
    """A node's position, complete; every node that the parser places has an end."""
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    line, column, end_line, end_column = (getattr(node, name, None) for name in names)
    if line is None or column is None or end_line is None or end_column is None:
        raise ValueError(f"{type(node).__name__} has no position")
    return line, column, end_line, end_column
