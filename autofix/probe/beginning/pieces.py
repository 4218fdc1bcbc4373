"""What was executed of the user's files, piece by piece, and what stands in the same places of other versions."""

from __future__ import annotations
import __future__

import ast
import io
import os
import tokenize
from collections.abc import Callable, Sequence
from types import CodeType
from typing import NamedTuple

from ..program import known
from ..program.overlay import Marker, Overlay
from .exchange import Differs, noted
from .inside import at, local_names

_FUTURE = {name: getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}

Place = tuple[int | str, ...]
"""Where a statement of a module stands: its number, and in a branch that was taken, the branch and its number there."""


class Piece:
    """What was executed at once: as it ran, with notes; without; where it stands, and the lines that it spans."""

    __slots__ = ("noted", "old", "place", "span", "test")

    def __init__(self, place: Place, test: bool, noted_code: CodeType, old: CodeType, span: tuple[int, int]) -> None:
        self.place, self.test, self.noted, self.old, self.span = place, test, noted_code, old, span


class NotedSources(Overlay):
    """Compiles the user's files with notes of what is called, and remembers what was executed of each."""

    def __init__(self, overlay: Overlay, owned: Callable[[str], bool]) -> None:
        super().__init__(overlay._sources, {})
        self.change(owned, lambda tree, _path: tree)
        self.read_files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        """Under which name each file was compiled."""
        self.pieces: dict[str, list[Piece]] = {}

    def code(self, path: str, name: str) -> CodeType:
        data = self.read(path)
        tree = ast.parse(data, name)
        old = compile(tree, name, "exec", dont_inherit=True)
        code = compile(noted(ast.parse(data, name)), name, "exec", dont_inherit=True)
        self.names[path] = name
        self.keep(path, data, Piece((), False, code, old, (1, 1 << 30)))
        return code

    def keep(self, path: str, data: bytes, piece: Piece) -> None:
        """Remember a piece of a file that is executed now."""
        if self.read_files.setdefault(path, data) != data:
            os._exit(0)  # it changes while it runs
        self.pieces.setdefault(path, []).append(piece)


class Unchanged(NamedTuple):
    """How many statements a module begins with that are as they were, their lines, and what they take from the future.

    They are not parsed again: of a long file most are classes and functions before all that an edit changes.
    """

    statements: int = 0
    lines: int = 0
    flags: int = 0
    ran: int = 0
    """The last line that was executed, of all statements."""


def unchanged(pieces: Sequence[Piece], first: int, most: int, flags: int) -> Unchanged:
    """What comes before a line, and before the statement of that number."""
    ran = max(piece.span[1] for piece in pieces)
    found, end, before = Unchanged(ran=ran), 0, -1
    for piece in pieces:
        if not piece.place or (start := piece.span[0]) >= first or (number := int(piece.place[0])) > most:
            break
        # A statement on the line of another has no beginning of its own; nor has one behind a text, which is no piece.
        if number == before + 1 and start > end:
            found = Unchanged(number, start - 1, flags, ran)
        end, before = max(end, piece.span[1]), number
    return found


class Parts:
    """One file as a run has it: its statements by their place, with the marks that the run asks for."""

    def __init__(self, path: str, old: bytes, data: bytes, marks: set[int], before: Unchanged) -> None:
        self._path, self._before = path, before
        self._first = min([first_difference(old, data), *marks])
        self._hollow = known.hollow(path, data, marks, range(before.lines + 1, before.ran + 1), old)
        if self._hollow is not None:
            self._text, self._tree = decoded(self._hollow.text), self._hollow.tree
        else:
            kept = decoded(data).split("\n")[before.lines :]
            self._text = "\n" * before.lines + "\n".join(kept)
            self._tree = ast.parse(self._text, path)
            self._tree.body[:0] = [ast.Pass()] * before.statements
        self.flags = before.flags | flags_of(self._tree)
        # An entry of sys.path may lead through `..`.
        self.marker = Marker(os.path.realpath(path), marks)
        self._marks = marks

    def same(self, piece: Piece) -> CodeType:
        """The code of a piece here, which is that of the piece where nothing up to its end differs."""
        if not piece.place:
            self._mark_all(self._tree.body)
            return self._compiled(self._tree.body)
        if int(piece.place[0]) < self._before.statements:
            return piece.old
        node = self._at(piece.place)
        if piece.span[1] < self._first and span_of(node, test=piece.test) == piece.span:
            return piece.old
        if piece.test:
            if not isinstance(node, ast.If):
                raise Differs("another statement stands where there was a test")
            head = range(node.lineno, max(node.body[0].lineno, node.lineno + 1))
            if not self._marks.isdisjoint(head):
                raise Differs("a test is marked")
            return compiled(node.test, self._path, self.flags)
        body = [node]
        if self._mark_all(body) != 1:
            raise Differs("a statement that ran is marked")
        return self._compiled(body)

    def _compiled(self, body: list[ast.stmt]) -> CodeType:
        if self._hollow is None:
            return compiled(body, self._path, self.flags)
        code = self._hollow.compiled(body, self.flags)
        if code is None:
            raise Differs("the file has to be compiled whole")
        return code

    def _mark_all(self, body: list[ast.stmt]) -> int:
        if self._marks:
            holder = ast.Module(body, [])
            self.marker.mark(holder)
            body[:] = holder.body
        return len(body)

    def _at(self, place: Place) -> ast.stmt:
        try:
            return _body(self._tree, place)[int(place[-1])]
        except (IndexError, AttributeError):
            raise Differs("a statement that ran is gone") from None

    @property
    def locals(self) -> dict[tuple[str, int], tuple[str, ...]]:
        """The local variables of each function, by its name and line."""
        return local_names(self._text)

    def function(self, path: tuple[int, ...], number: int) -> ast.FunctionDef:
        """The function at a path, marked from one of its statements on; no mark may stand before that."""
        node = at(self._tree, path)
        rest = node.body[number:]
        end = rest[0].lineno if rest else (node.end_lineno or node.lineno) + 1
        if any(span_of(node, test=False)[0] <= mark < end for mark in self._marks):
            raise Differs("a statement that ran is marked")
        self._mark_all(rest)
        node.body[number:] = rest
        return node

    def rest(self, place: Place, *, after: bool) -> list[CodeType]:
        """The code of the statement at a place and of all that come after it; or of these alone."""
        found, first = [], not after
        while place:
            try:
                body = _body(self._tree, place)
            except (IndexError, AttributeError):
                raise Differs("the branch under way is gone") from None
            left = body[int(place[-1]) + (not first) :]
            while left and is_text(left[0]):
                left = left[1:]
            if left:
                self._mark_all(left)
                found.append(self._compiled(left))
            place, first = place[:-2], False
        return found


def span_of(node: ast.stmt, *, test: bool) -> tuple[int, int]:
    """The first and the last line of a statement, or of the test that it begins with."""
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    end = node.test if test and isinstance(node, ast.If) else node
    return first, end.end_lineno or node.lineno


def _body(tree: ast.Module, place: Place) -> list[ast.stmt]:
    """The statements among which a place is."""
    body = tree.body
    for number, branch in zip(place[:-1:2], place[1::2], strict=True):
        body = getattr(body[int(number)], str(branch))
    return body


def compiled(what: list[ast.stmt] | ast.expr, path: str, flags: int) -> CodeType:
    tree = ast.Module(what, []) if isinstance(what, list) else ast.Expression(what)
    mode = "exec" if isinstance(what, list) else "eval"
    return compile(tree, path, mode, flags=flags, dont_inherit=True)


def decoded(data: bytes) -> str:
    """The text of a file, in the encoding that it declares."""
    return io.TextIOWrapper(io.BytesIO(data), tokenize.detect_encoding(io.BytesIO(data).readline)[0]).read()


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def flags_of(tree: ast.Module) -> int:
    """What a module takes from the future."""
    names = [
        one.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for one in node.names
    ]  # fmt: skip
    flags = 0
    for name in names:
        flags |= _FUTURE.get(name, 0)
    return flags


def first_difference(old: bytes, new: bytes) -> int:
    """The number of the first line that differs; beyond all lines where none does."""
    if old == new:
        return 1 << 31
    before, after = old.splitlines(), new.splitlines()
    pairs = enumerate(zip(before, after, strict=False), 1)
    return next((number for number, (one, other) in pairs if one != other), min(len(before), len(after)) + 1)
