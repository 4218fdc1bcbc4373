"""Long files, compiled once by the server: what a run has otherwise is compiled in the run, the rest is that code."""

from __future__ import annotations

import ast
import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from types import CodeType
from typing import NamedTuple

_LONG = 1 << 16
"""Bytes from which on a file is worth it."""
_TELLS_LINES = (3, 13)
"""From which Python on the code of a class holds the number of its line."""
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class _Definition(NamedTuple):
    """A function or class of a module: the lines of all of it and of its body, its last column, and its code."""

    begin: int
    body: int
    end: int
    column: int
    indent: bytes
    code: CodeType

    def moved(self, lines: int) -> _Definition:
        """The same, so many lines further down."""
        begin, body, end = (place + lines for place in self[:3])
        return _Definition(begin, body, end, self.column, self.indent, _moved(self.code, lines)) if lines else self


class _File:
    """A file as it was when the server compiled it."""

    def __init__(self, path: str, data: bytes) -> None:
        tree = ast.parse(data, path)
        self.data = data
        self.lines = data.splitlines(keepends=True)
        self.code = compile(tree, path, "exec", dont_inherit=True)
        self.definitions = list(self._definitions(tree))
        self.imports = _imports(tree)

    def _definitions(self, tree: ast.Module) -> Iterator[_Definition]:
        codes = {(code.co_name, code.co_firstlineno): code for code in _nested(self.code)}
        starts = [first_line(node) for node in tree.body]
        for node, following in zip(tree.body, [*starts[1:], len(self.lines) + 1], strict=True):
            if not isinstance(node, _DEFINES) or getattr(node, "type_params", None):
                continue
            first, end, body = first_line(node), node.end_lineno or 0, first_line(node.body[0])
            indent = self.lines[body - 1][: node.body[0].col_offset]
            code = codes.get((node.name, first))
            shared = any(b"global" in line for line in self.lines[body - 1 : end])  # the module writes these otherwise
            if code is not None and not indent.strip() and following > end and not shared:
                yield _Definition(first, body, end, node.end_col_offset or 0, indent, code)

    def hollow(self, data: bytes, marks: Collection[int], whole: range) -> tuple[bytes, dict[int, _Definition]]:
        """Other data, without the bodies of what is as it was and has no mark; each of these by its first line.

        `whole`: lines of the file as it was; what begins there keeps its body.
        """
        lines = data.splitlines(keepends=True)
        least = min(len(lines), len(self.lines))
        before = next((at for at in range(least) if lines[at] != self.lines[at]), least)
        behind = next((at for at in range(least - before) if lines[-1 - at] != self.lines[-1 - at]), least - before)
        more, kept = len(lines) - len(self.lines), dict[int, _Definition]()
        for one in self.definitions:
            moved = 0 if one.end <= before else more
            same = (one.end <= before or one.begin > len(self.lines) - behind) and one.begin not in whole
            told = moved != 0 and sys.version_info >= _TELLS_LINES
            if same and not told and not any(one.begin + moved <= mark <= one.end + moved for mark in marks):
                here = kept[one.begin + moved] = one.moved(moved)
                lines[here.body - 1 : here.end] = [here.indent + b"pass\n", *[b"\n"] * (here.end - here.body)]
        return b"".join(lines), kept


_files: dict[str, _File] = {}


def learn(path: str) -> None:
    """Compile a file for the processes that are forked from this one, if it is long."""
    with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path not in _files and path.endswith(".py") and os.path.getsize(path) > _LONG:
            with open(path, "rb") as file:
                _files[path] = _File(path, file.read())


class Hollow(NamedTuple):
    """A version of a file that is known, without the bodies of definitions that are as they were."""

    path: str
    text: bytes
    tree: ast.Module
    kept: dict[int, _Definition]
    """These definitions, by their first lines."""
    known: _File

    def compiled(self, body: list[ast.stmt], flags: int = 0) -> CodeType | None:
        """The code of statements of the module as they are in full; None where it cannot be put together."""
        try:
            code = compile(ast.Module(body, []), self.path, "exec", flags=flags, dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
        parts = [_whole(one, self.kept) for one in code.co_consts]
        used = sum(one is not part for one, part in zip(parts, code.co_consts, strict=True))
        wanted = sum(isinstance(node, _DEFINES) and first_line(node) in self.kept for node in body)
        alike = code.co_flags == self.known.code.co_flags and used == wanted
        return code.replace(co_consts=tuple(parts)) if alike else None


def hollow(path: str, data: bytes, marks: Collection[int], whole: range = range(0), old: bytes = b"") -> Hollow | None:
    """A file that is known, with other data; None where it has to be parsed whole.

    `whole`: what begins on these lines of `old`, which the file was, keeps its body.
    """
    known = _files.get(path)
    if known is None or (whole and old != known.data):
        return None
    text, kept = known.hollow(data, marks, whole)
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError):  # it is told of the whole
        return None
    found = {first_line(node): node for node in tree.body if isinstance(node, _DEFINES) and len(node.body) == 1}
    same = _imports(tree) == known.imports  # how a method is called depends on what the module imports
    if not same or not all(line in found and isinstance(found[line].body[0], ast.Pass) for line in kept):
        return None
    for line, one in kept.items():
        found[line].end_lineno, found[line].end_col_offset = one.end, one.column
    return Hollow(path, text, tree, kept, known)


def compiled(path: str, data: bytes, marks: Collection[int], mark: Callable[[ast.Module], None]) -> CodeType | None:
    """The code of a file that is known, with other data and what `mark` puts in; None where it has to be made whole."""
    known = _files.get(path)
    if known is not None and data == known.data and not marks:
        return known.code
    found = hollow(path, data, marks)
    if found is None:
        return None
    mark(found.tree)
    return found.compiled(found.tree.body)


def _imports(node: ast.AST) -> set[str]:
    """What a module imports, but for its functions and classes."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {ast.dump(node)}
    inner = (one for one in ast.iter_child_nodes(node) if not isinstance(one, (*_DEFINES, ast.expr)))
    return set().union(*map(_imports, inner))


def _whole(part: object, kept: dict[int, _Definition]) -> object:
    one = kept.get(part.co_firstlineno) if isinstance(part, CodeType) else None
    return one.code if one is not None and isinstance(part, CodeType) and part.co_name == one.code.co_name else part


def _nested(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _moved(code: CodeType, lines: int) -> CodeType:
    consts = tuple(_moved(one, lines) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_firstlineno=code.co_firstlineno + lines, co_consts=consts)


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, with its decorators."""
    return min((one.lineno for one in getattr(statement, "decorator_list", [])), default=statement.lineno)
