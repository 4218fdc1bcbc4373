"""The files that rules and diagnosis read: as they stand in one run, on disk or as a candidate has them."""

from __future__ import annotations

import ast
import functools
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from autofix.core.model import Target
from autofix.probe.wire import Frame, Stack
from autofix.syntax.blocks import function_named
from autofix.syntax.calls import Function, imported, name_of, path_of
from autofix.syntax.names import assignments, binds, given_to, paired
from autofix.syntax.source import Source, SourceError
from autofix.syntax.writes import chain

N = TypeVar("N", bound=ast.AST)
_CALLED = ("forward", "__call__")
"""Methods that a call of an instance runs."""
MOST_FILES = 40
_whole = weakref.WeakValueDictionary[Path, Source]()
"""Of each file in use, a version that was parsed whole."""


@functools.lru_cache(maxsize=64)
def parsed(path: Path, data: bytes) -> Source:
    """A source, read once while it is in use: diagnosis and rules ask for the same.

    Of a file that is known already, only what another version has otherwise is parsed.
    """
    known = _whole.get(path)
    source = Source(path, data, known)
    if known is None:
        _whole[path] = source
    return source


class Sources:
    """The files of the user's project as they stand in this run: the disk's, or a candidate's."""

    def __init__(self, root: Path, files: Mapping[Path, bytes] | None = None) -> None:
        self.root = root
        self._files = dict(files or {})
        self._read: dict[Path, Source | None] = {}
        self._imported: dict[Source, list[Source]] = {}

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
        if source not in self._imported:
            queue, seen = [source], {source.path}
            for one in queue:
                for path in imported(one.mentioning("import"), one.path, self.root):
                    new = path not in seen and len(queue) < MOST_FILES
                    if new and (found := self.source(str(path))) is not None:
                        queue.append(found)
                    seen.add(path)
            self._imported[source] = queue
        return iter(self._imported[source])

    def project(self, file: str) -> list[Source]:
        """A file by its name, and those of the project that it imports, nearest first; [] where it cannot be read."""
        first = self.source(file)
        return [] if first is None else list(self.imported_by(first))

    def project_of(self, stack: Sequence[Frame]) -> list[Source]:
        """The same of the file in which the outermost of these frames stood."""
        return self.project(stack[-1].file) if stack else []

    def reached(self, stack: Iterable[Frame]) -> list[Source]:
        """The files of the user's that these frames stand in, and what they import, each once."""
        return list(dict.fromkeys(one for source in self.files(stack) for one in self.imported_by(source)))

    def called(self, source: Source, call: ast.Call, *, decorated: bool = False) -> tuple[Source, Function] | None:
        """The function of the user's that a call in `source` means: by its name, else by what it is called of.

        Nothing where there are several. One with decorators, which may make of it what they will, only where
        `decorated`.
        """
        name, owner = name_of(call), call.func.value if isinstance(call.func, ast.Attribute) else None
        found: list[tuple[Source, Function]] = []
        if owner is None or isinstance(owner, ast.Name):
            found = [*self._named(source, ast.FunctionDef, name), *self._named(source, ast.AsyncFunctionDef, name)]
        if len(found) != 1 and owner is not None:
            found = list(self._methods(source, owner, (name,)))
        found = found or list(self._methods(source, call.func, _CALLED))
        return found[0] if len(found) == 1 and (decorated or not found[0][1].decorator_list) else None

    def _named(self, source: Source, kind: type[N], name: str) -> Iterator[tuple[Source, N]]:
        for one in self.imported_by(source):
            yield from ((one, node) for node in one.definitions.get(name, ()) if isinstance(node, kind))

    def _methods(self, source: Source, owner: ast.expr, names: tuple[str, ...]) -> Iterator[tuple[Source, Function]]:
        """The methods of some names of the classes of which a variable is given an instance, or of the own class."""
        classes = list(self.classes(source, path_of(owner))) if path_of(owner) else []
        function = source.function(owner) if path_of(owner) == "self" else None
        if function is not None and isinstance(own := source.parent(function), ast.ClassDef):
            classes = [(source, own)]
        for one, kind in classes:
            for method in kind.body:
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name in names:
                    yield one, method

    def classes(self, source: Source, path: str) -> Iterator[tuple[Source, ast.ClassDef]]:
        """The classes of the user's of which a variable is given an instance: by a call, or by what that then gives."""
        given = (
            value
            for one in self.imported_by(source)
            for made in assignments(one, path)
            for value in given_to(made, path)
        )
        names = {name_of(call): None for value in given for call in chain(value)}
        for name in names:
            yield from self._named(source, ast.ClassDef, name)

    def reads(self, function: Function, source: Source) -> int:
        """How often `source` and what it imports read a function by its name, or call an instance that it is run by."""
        return sum(1 for _ in self.readers(function, source))

    def readers(self, function: Function, source: Source) -> Iterator[tuple[Source, ast.Name | ast.Attribute]]:
        """Where `source` and what it imports read a function by its name, or call an instance that it is run by.

        Variables of that name do not count, nor calls that mean another function.
        """
        files = list(self.imported_by(source))
        owner = next((up for one in files if isinstance(up := one.parent(function), ast.ClassDef)), None)
        names = {function.name} if owner is None or function.name not in _CALLED else _instances(files, owner.name)
        for one in files:
            for node in (node for name in names for node in one.mentioning(name) if name_of(node) == name):
                match node:
                    case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                        if self._reads(one, node, function, method=owner is not None):
                            yield one, node

    def _reads(self, source: Source, node: ast.Name | ast.Attribute, function: Function, *, method: bool) -> bool:
        if isinstance(node, ast.Name) and node.id == function.name:
            scope = getattr(source.function(node), "body", ())
            return not (method or any(function.name in binds(part) for part in scope))
        call = source.parent(node)
        called = self.called(source, call) if isinstance(call, ast.Call) and call.func is node else None
        if name_of(node) != function.name and called is None:
            return isinstance(call, ast.Call) and call.func is node
        return called is None or called[1] is function


def _instances(files: Iterable[Source], name: str) -> set[str]:
    """The last names of variables that are given an instance of a class."""
    nodes = (node for one in files for node in one.mentioning(name) if isinstance(node, ast.Assign))
    pairs = (pair for node in nodes for pair in paired(node))
    return {name_of(part) for part, value in pairs if name in map(name_of, chain(value))} - {""}
