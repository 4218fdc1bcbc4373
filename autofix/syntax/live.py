"""Which names are needed after a statement of a module or function: its statements, read backwards."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from autofix.syntax import names
from autofix.syntax.calls import Function, path_of
from autofix.syntax.source import Source
from autofix.syntax.writes import written

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor)
_COPIES = ("clone", "copy", "deepcopy")
_SEE_ALL = ("locals", "vars", "globals", "eval", "exec", "dir")
_WRITTEN = "written: "
"""Before a name in a set of names that are needed: only the tensor is, to be written in place."""


class Needed:
    """The names that are needed after each statement of a scope, and the assignments whose values nothing needs.

    A name that a function inside uses, or that is global, is always needed. Other modules may read the names `exported`
    of a module, but hardly a loop's variable.
    """

    def __init__(self, source: Source, scope: Scope, exported: frozenset[str] = frozenset(), asked: str = "") -> None:
        """`asked`: the name that `after` will be asked for."""
        nodes = list(nodes_of(scope))
        bound = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
        own = (place for name in filter(None, (*bound, asked)) for place in source.places(name))
        self._own = sorted(own) if source.text.isascii() else None
        self._source = source
        inner = (child for one in (scope, *nodes) for child in ast.iter_child_nodes(one) if isinstance(child, _LATER))
        later = [child for child in inner if self._concerns(child)]
        shared = {name for one in nodes if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
        shared |= {name.id for one in later for name in _names(one)}
        turning = {part.id for one in nodes if isinstance(one, _LOOPS) for part in _names(one.target)}
        self._all = any(isinstance(one, ast.Name) and one.id in _SEE_ALL for one in nodes)
        self._always = frozenset(shared)
        self._met: dict[tuple[ast.stmt, str], None] = {}
        self._needed: set[tuple[ast.stmt, str]] = set()
        self._after: dict[ast.stmt, frozenset[str]] = {}
        self._block(scope.body, frozenset(shared | (exported - turning)), frozenset(), frozenset())

    def _concerns(self, one: ast.AST) -> bool:
        """Whether a node may use a name that the scope binds: of a long file, most functions and classes do not."""
        if self._own is None or not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return True
        start, end = self._source.whole_lines(one)
        return bisect_left(self._own, start) < bisect_left(self._own, end)

    def _reads(self, one: ast.stmt) -> frozenset[str]:
        return _reads(one) if self._concerns(one) else frozenset()

    def unread(self) -> list[tuple[ast.stmt, str]]:
        """The assignments to plain names whose values nothing reads."""
        return [] if self._all else [pair for pair in self._met if pair not in self._needed]

    def after(self, statement: ast.stmt, name: str) -> bool:
        """Whether a name, or its tensor to be written, is needed behind a statement."""
        after = self._after.get(statement)
        return self._all or after is None or bool(after & {name, _WRITTEN + name})

    def _block(
        self, body: Sequence[ast.stmt], after: frozenset[str], broken: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        """What is needed before `body`; `broken` and `again`: what is where its loop is left, or goes on."""
        for statement in reversed(body):
            self._after[statement] = self._after.get(statement, self._always) | after
            after = self._before(statement, after, broken, again) | self._always
        return after

    def _before(
        self, one: ast.stmt, after: frozenset[str], broken: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        match one:
            case ast.Break():
                return broken
            case ast.Continue():
                return again
            case ast.Return() | ast.Raise():
                return self._always | _reads(one)
            case ast.If():
                paths = self._block(one.body, after, broken, again) | self._block(one.orelse, after, broken, again)
                return paths | _reads(one.test)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(one, after, broken, again)
            case ast.With() | ast.AsyncWith():
                return self._block(one.body, after, broken, again) | _reads(
                    ast.Tuple([i.context_expr for i in one.items], ast.Load())
                )
            case ast.Try() | ast.TryStar():
                return self._try(one, after, broken, again)
            case ast.Match():
                ways = [self._block(case.body, after, broken, again) | _reads(case.pattern) for case in one.cases]
                return after.union(_reads(one.subject), *ways)
        if target := written_by(self._source, one):
            once = sum(node.id == target for node in _names(one)) == 1
            others = self._reads(one) - ({target} if once else set())
            return after | others | {_WRITTEN + target}
        return self._assigned(one, after)

    def _assigned(self, one: ast.stmt, after: frozenset[str]) -> frozenset[str]:
        bound = bound_by(one)
        needed = [n for n in bound if n in after or (_WRITTEN + n in after and not _is_copy(one))]
        self._met |= dict.fromkeys((one, name) for name in bound)
        self._needed.update((one, name) for name in needed)
        reads = self._reads(one)
        if bound and not needed:  # what only goes into itself, or into another such name, is not read
            value = getattr(one, "value", one)
            reads = reads - {*bound} if any(isinstance(n, ast.Call) for n in ast.walk(value)) else frozenset()
        return (after - {*bound, *(_WRITTEN + name for name in bound)}) | reads

    def _loop(
        self, one: ast.For | ast.AsyncFor | ast.While, after: frozenset[str], broken: frozenset[str],
        again: frozenset[str],
    ) -> frozenset[str]:  # fmt: skip
        turns = () if isinstance(one, ast.While) else _names(one.target)
        taken = {text for node in turns if isinstance(node.ctx, ast.Store) for text in (node.id, _WRITTEN + node.id)}
        ended = self._block(one.orelse, after, broken, again)
        begin = ended | (_reads(one.test) if isinstance(one, ast.While) else frozenset())
        for _ in range(3):
            begin |= self._block(one.body, begin, after, begin) - taken
        return begin if isinstance(one, ast.While) else begin | _reads(one.iter) | _reads(one.target)

    def _try(
        self, one: ast.Try | ast.TryStar, after: frozenset[str], broken: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:  # fmt: skip
        last = self._block(one.finalbody, after, broken, again)
        caught = last.union(*(self._block(handler.body, last, broken | last, again | last) for handler in one.handlers))
        outer, self._always = self._always, self._always | caught
        try:
            ended = self._block(one.orelse, last, broken | last, again | last)
            return self._block(one.body, ended, broken | last, again | last)
        finally:
            self._always = outer


def _reads(node: ast.AST) -> frozenset[str]:
    """The names whose values a node takes; a comprehension's own variables are others."""
    if isinstance(node, ast.Name):
        return frozenset({node.id}) if isinstance(node.ctx, ast.Load) else frozenset()
    found = frozenset[str]().union(*map(_reads, ast.iter_child_nodes(node)))
    own = (one for part in getattr(node, "generators", ()) for one in _names(part.target))
    return found - {one.id for one in own}


def bound_by(one: ast.stmt) -> list[str]:
    """The plain names that an assignment binds, alone or in a tuple."""
    match one:
        case ast.Assign(targets=targets):
            found = [part for target in targets for part in names.parts(target)]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            found = [target]
        case _:
            return []
    return [part.id for part in found if isinstance(part, ast.Name)]


def _is_copy(one: ast.stmt) -> bool:
    """Whether what is bound has a storage of its own for sure: a write to it then reaches nothing else."""
    value = getattr(one, "value", None)
    if isinstance(value, ast.Call):
        return path_of(value.func).rpartition(".")[2] in _COPIES or getattr(value.func, "attr", "") in _COPIES
    return isinstance(value, (ast.BinOp, ast.UnaryOp))


def read_after(source: Source, statement: ast.stmt, path: str) -> bool:
    """Whether a variable may be read, or its tensor written, behind a statement before it is bound anew."""
    scope = source.function(statement) or source.tree
    return not path.isidentifier() or Needed(source, scope, asked=path).after(statement, path)


def _names(node: ast.AST) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name)]


def nodes_of(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the functions and classes in it."""
    waiting = [*ast.iter_child_nodes(scope)][::-1]
    while waiting:
        if not isinstance(node := waiting.pop(), _LATER):
            yield node
            waiting += [*ast.iter_child_nodes(node)][::-1]


def returned(function: Function) -> list[ast.expr]:
    """The values that a function itself returns, in the order of the text."""
    return [one.value for one in nodes_of(function) if isinstance(one, ast.Return) and one.value is not None]


def written_by(source: Source, statement: ast.AST) -> str:
    """The name whose tensor a statement writes and drops: `p` of `p.mul_(2).add_(q)`, `p[0] = 1`, `p += 1`."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Subscript() as item]) | ast.AugAssign(target=ast.Subscript() as item):
            return _name(written(source, item) if isinstance(statement, ast.Assign) else written(source, statement))
        case ast.Expr(value=ast.Call() as call):
            while isinstance(call, ast.Call):
                if name := written(source, call):
                    return _name(name)
                if not (isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)):
                    return ""
                call = call.func.value
    return ""


def _name(path: str) -> str:
    return "" if "." in path else path
