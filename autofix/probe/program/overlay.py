"""The overlay: sources that stand in for files on disk, under their real names, in this process only."""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import linecache
import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..wire import COLUMNS
from . import known
from .known import first_line

MARK = "__autofix_executed__"


class Overlay:
    """Replacement sources, and the lines whose execution is to be recorded."""

    def __init__(
        self, sources: dict[str, bytes], marks: dict[str, tuple[int, ...]], calls: Callable[[], int] = int
    ) -> None:
        """`calls`: how many backward calls were made."""
        self._sources, self._marks, self._calls = sources, marks, calls
        self._changes: list[tuple[Callable[[str], bool], Callable[[ast.Module, str], ast.Module]]] = []
        self.executed: dict[str, dict[int, int]] = {}
        """By file, each marked statement that ran, and how many backward calls had been made when it ran last."""
        self.marked: dict[str, set[int]] = {}

    def install(self) -> None:
        """Answer imports from the overlay; never read a stale .pyc for it, never write one."""
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader
        original = loader.get_code
        overlay = self

        def get_code(self: Any, fullname: str) -> CodeType | None:
            path = os.path.realpath(self.get_filename(fullname))
            if path in overlay._sources or path in overlay._marks or overlay._changing(path):
                return overlay.code(path, self.get_filename(fullname))
            return original(self, fullname)

        loader.get_code = get_code  # type: ignore[method-assign]
        setattr(builtins, MARK, self._executed)
        for path, data in self._sources.items():
            text = data.decode("utf-8", "replace")
            linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)

    def change(self, which: Callable[[str], bool], how: Callable[[ast.Module, str], ast.Module]) -> None:
        """Have the trees of the files that `which` names changed before they are compiled."""
        self._changes.append((which, how))

    def _changing(self, path: str) -> list[Callable[[ast.Module, str], ast.Module]]:
        return [how for which, how in self._changes if which(path)]

    def _executed(self, path: str, place: int) -> None:
        self.executed.setdefault(path, {})[place] = self._calls()

    def read(self, path: str) -> bytes:
        """The source of `path` as this run has it; nothing where there is none."""
        if path in self._sources:
            return self._sources[path]
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def code(self, path: str, name: str) -> CodeType:
        """The code of `path` as the overlay has it, compiled under `name`."""
        data = self._sources.get(path)
        if data is None:
            with open(path, "rb") as file:
                data = file.read()
        lines = set(self._marks.get(path, ()))
        changes = self._changing(path)
        marker = Marker(path, lines)
        code = known.compiled(path, data, lines, marker.mark) if name == path and not changes else None
        if lines:
            self.marked[path] = marker.placed
        if code is not None or not (lines or changes):
            return code or compile(data, name, "exec", dont_inherit=True)
        tree = ast.parse(data, name)
        marker.mark(tree)
        for change in changes:
            tree = ast.fix_missing_locations(change(tree, path))
        return compile(tree, name, "exec", dont_inherit=True)


class Marker:
    """Puts a call before each statement that begins on, or spans, a line of interest."""

    def __init__(self, path: str, lines: set[int]) -> None:
        self._path, self._lines = path, lines
        self.placed: set[int] = set()

    def mark(self, node: ast.AST) -> None:
        """Mark below a node; of a long file only what spans a line of interest is gone into."""
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                for statement in filter(self._spans, body):
                    self.mark(statement)
                setattr(node, name, [part for statement in body for part in self._marked(statement)])
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.mark(part)

    def _spans(self, statement: ast.stmt) -> bool:
        return any(first_line(statement) <= line <= (statement.end_lineno or 0) for line in self._lines)

    def _marked(self, statement: ast.stmt) -> list[ast.stmt]:
        fixed = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        header = getattr(statement, "body", None)
        last = header[0].lineno - 1 if isinstance(header, list) and header else statement.end_lineno or 0
        spanned = range(first_line(statement), max(last, statement.lineno) + 1)
        if fixed or text or self._lines.isdisjoint(spanned):
            return [statement]
        place = statement.lineno * COLUMNS + min(statement.col_offset, COLUMNS - 1)
        self.placed.add(place)
        arguments: list[ast.expr] = [ast.Constant(self._path), ast.Constant(place)]
        call = ast.copy_location(ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), arguments, [])), statement)
        ast.fix_missing_locations(call)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # What a head says acts when the function is called. A docstring has to stay first.
            statement.body.insert(int(ast.get_docstring(statement, clean=False) is not None), call)
            return [statement]
        return [call, statement]
