"""The files that rules and diagnosis read: as they stand in one run, on disk or as a candidate has them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from autofix.core.model import Target
from autofix.probe.wire import Frame, Stack
from autofix.syntax.blocks import function_named
from autofix.syntax.calls import Function, imported, name_of, path_of
from autofix.syntax.names import assignments, binds
from autofix.syntax.source import Source, SourceError

N = TypeVar("N", bound=ast.AST)
_CALLED = ("forward", "__call__")
"""Methods that a call of an instance runs."""
_MOST_FILES = 40


@functools.lru_cache(maxsize=16)
def parsed(path: Path, data: bytes) -> Source:
    """A source, read once while it is in use: diagnosis and rules ask for the same."""
    return Source(path, data)


class Sources:
    """The files of the user's project as they stand in this run: the disk's, or a candidate's."""

    def __init__(self, root: Path, files: Mapping[Path, bytes] | None = None) -> None:
        self.root = root
        self._files = dict(files or {})
        self._read: dict[Path, Source | None] = {}

    @classmethod
    def of(cls, target: Target, files: Mapping[Path, bytes] | None = None) -> Sources:
        """The files of a target, with some in place of its own."""
        return cls(target.project, target.buffers | dict(files or {}))

    def source(self, file: str) -> Source | None:
        """The source of `file`, or None when it is not the user's or cannot be parsed."""
        path = Path(file)
        if path not in self._read:
            self._read[path] = self._load(path)
        return self._read[path]

    def _load(self, path: Path) -> Source | None:
        if not path.is_relative_to(self.root):
            return None
        try:
            return parsed(path, self._files[path] if path in self._files else path.read_bytes())
        except (OSError, SourceError):
            return None

    def files(self, stack: Iterable[Frame]) -> Iterator[Source]:
        """The files of the user's that these frames stand in, each once, in their order."""
        return filter(None, map(self.source, dict.fromkeys(frame.file for frame in stack)))

    def node(self, frame: Frame) -> ast.AST | None:
        """The CST node that `frame` was executing, or None when the span does not name one surely."""
        source = self.source(frame.file)
        if source is None:
            return None
        return source.node_at((frame.line, frame.column, frame.end_line, frame.end_column))

    def nodes(self, stack: Iterable[Frame]) -> Iterator[tuple[Frame, Source, ast.AST]]:
        """Each frame whose span names a node in a file of the user's, in their order: innermost first."""
        for frame in stack:
            source, node = self.source(frame.file), self.node(frame)
            if source is not None and node is not None:
                yield frame, source, node

    def located(self, stack: Iterable[Frame]) -> Iterator[tuple[Frame, Source, ast.expr]]:
        """Those of these frames whose node is an expression."""
        for frame, source, node in self.nodes(stack):
            if isinstance(node, ast.expr):
                yield frame, source, node

    def innermost(self, stacks: Iterable[Stack]) -> Iterator[tuple[Source, ast.AST]]:
        """The node at which each of several stacks stood, where it is in a file of the user's."""
        return ((source, node) for stack in stacks for _, source, node in self.nodes(stack[:1]))

    def statements(self, stack: Iterable[Frame]) -> Iterator[ast.stmt]:
        """The statements in which these frames stood."""
        return (source.statement(node) for _, source, node in self.nodes(stack))

    def function(self, frame: Frame) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that `frame` runs, if it stands in a file of the user's."""
        source = self.source(frame.file)
        found = function_named(source, frame.function) if source is not None else None
        return found if not isinstance(found, ast.Module) else None

    def imported_by(self, source: Source) -> Iterator[Source]:
        """A file, and those of the project that it imports, nearest first."""
        queue, seen = [source], {source.path}
        for one in queue:
            yield one
            for path in imported(one.mentioning("import"), one.path, self.root):
                if path not in seen and len(seen) < _MOST_FILES and (found := self.source(str(path))) is not None:
                    queue.append(found)
                seen.add(path)

    def called(self, source: Source, call: ast.Call, *, decorated: bool = False) -> tuple[Source, Function] | None:
        """The function of the user's that a call in `source` means by its name, if there is but one of that name.

        One with decorators, which may make of it what they will, only where `decorated`.
        """
        if isinstance(call.func, ast.Attribute) and not isinstance(call.func.value, ast.Name):
            return None
        found: list[tuple[Source, Function]] = [
            *self._named(source, ast.FunctionDef, name_of(call)),
            *self._named(source, ast.AsyncFunctionDef, name_of(call)),
        ] or [
            (one, method)
            for one, kind in self._classes(source, path_of(call.func))
            for method in kind.body
            if isinstance(method, ast.FunctionDef) and method.name in _CALLED
        ]
        return found[0] if len(found) == 1 and (decorated or not found[0][1].decorator_list) else None

    def _named(self, source: Source, kind: type[N], name: str) -> Iterator[tuple[Source, N]]:
        for one in self.imported_by(source):
            yield from ((one, node) for node in one.definitions.get(name, ()) if isinstance(node, kind))

    def _classes(self, source: Source, path: str) -> Iterator[tuple[Source, ast.ClassDef]]:
        """The classes of the user's of which a variable is given an instance."""
        given = (made for one in self.imported_by(source) for made in assignments(one, path))
        names = {name_of(made.value) for made in given if isinstance(made.value, ast.Call)}
        for name in names:
            yield from self._named(source, ast.ClassDef, name)

    def reads(self, function: Function, source: Source) -> int:
        """How often `source` and what it imports read a function by its name; variables of that name do not count."""
        files = list(self.imported_by(source))
        method = any(isinstance(one.parent(function), ast.ClassDef) for one in files)
        return sum(
            isinstance(node, ast.Attribute)
            or not (method or any(function.name in binds(part) for part in getattr(one.function(node), "body", ())))
            for one in files
            for node in one.mentioning(function.name)
            if isinstance(node, (ast.Name, ast.Attribute))
            and isinstance(node.ctx, ast.Load)
            and name_of(node) == function.name
        )
