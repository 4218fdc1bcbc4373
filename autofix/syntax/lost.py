"""Writes that an edit loses: what was written to a tensor goes to a name that nothing reads afterwards."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from autofix.syntax import names
from autofix.syntax.calls import path_of
from autofix.syntax.source import Source, SourceError, within
from autofix.syntax.sources import parsed
from autofix.syntax.writes import written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LATER = (*_FUNCTIONS, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COPIES = ("clone", "copy", "deepcopy")
_SEE_ALL = ("locals", "vars", "globals", "eval", "exec", "dir")
_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_WRITTEN = "written: "
"""Before a name in a set of names that are needed: only the tensor is, to be written in place."""


def lost_write(path: Path, old: bytes, new: bytes) -> tuple[str, int]:
    """A name that an edit binds in place of a write, and that nothing reads, with its line in `new`; ('', 0) if none.

    `for p in params: p.copy_(s)` changes parameters; `p = s.clone()` in its place changes nothing at all. So does
    `p = p.clone()` before the write. A name that a function inside, another module or the next pass may read is no
    such name.
    """
    try:
        before = parsed(path, old)
        if not _may_lose(before, new):
            return "", 0
        after = Source(path, new)
        ours, theirs = dict(_scopes(before.tree, "")), _scopes(after.tree, "")
    except SourceError:
        return "", 0
    exported = frozenset(node.id for node in _own(before.tree) if isinstance(node, ast.Name))
    for name, scope in theirs:
        mine = ours.get(name)
        if mine is None or (name and before.segment(mine) == after.segment(scope)):
            continue
        added, gone = _bindings(scope) - _bindings(mine), _writes(before, mine) - _writes(after, scope)
        for statement, bound in _unread(after, scope, exported):
            if added[ast.unparse(statement)] and (gone or _written_in(after, scope, bound)):
                return bound, statement.lineno
    return "", 0


def _may_lose(before: Source, new: bytes) -> bool:
    """Whether a scope binds more than it did, and writes less or to that; by the statements that differ, for speed."""
    try:
        old, now = (dict(_scopes(ast.parse(part), "")) for part in before.differing(new))
    except (SyntaxError, ValueError):
        return True
    whole = dict(_scopes(before.tree, ""))
    for name in now.keys() & old.keys() & whole.keys():
        added = _bindings(now[name]) - _bindings(old[name])
        bound = {one for text in added for one in _binds(ast.parse(text).body[0])}
        if bound and _writes(before, old[name]) - _writes(before, now[name]):
            return True
        if any(_written_in(before, scope, one) for scope in (whole[name], now[name]) for one in bound):
            return True
    return False


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Scope]]:
    """The module and its functions, each with its qualified name."""
    if isinstance(node, ast.Module):
        yield "", node
    for child in within(node):
        name = f"{prefix}.{child.name}" if isinstance(child, (*_FUNCTIONS[:2], ast.ClassDef)) else prefix
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield name, child
        yield from _scopes(child, name)


def _bindings(scope: _Scope) -> Counter[str]:
    return Counter(ast.unparse(node) for node in _own(scope) if isinstance(node, ast.stmt) and _binds(node))


def _writes(source: Source, scope: _Scope) -> Counter[str]:
    """How often a scope writes to the tensors of each variable in place."""
    return Counter(name for node in _own(scope) if (name := written(source, node)))


def _written_in(source: Source, scope: _Scope, name: str) -> bool:
    return any(_target(source, node) == name for node in _own(scope) if isinstance(node, ast.stmt))


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, _LATER):
            yield child
            yield from _own(child)


def _target(source: Source, statement: ast.AST) -> str:
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


# Which bindings nothing reads ----------------------------------------------------------------------------------------


def _unread(source: Source, scope: _Scope, exported: frozenset[str]) -> list[tuple[ast.stmt, str]]:
    """The assignments to plain names of a scope whose values nothing reads; others may read `exported` of a module."""
    nodes = list(_own(scope))
    later = [child for one in (scope, *nodes) for child in ast.iter_child_nodes(one) if isinstance(child, _LATER)]
    shared = {name for one in nodes if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    shared |= {name.id for one in later for name in _names(one)}
    if any(isinstance(one, ast.Name) and one.id in _SEE_ALL for one in nodes):
        return []
    leaves = shared
    if isinstance(scope, ast.Module):  # others may import what it leaves, but hardly a loop's variable
        turning = {part.id for one in nodes if isinstance(one, _LOOPS[:2]) for part in _names(one.target)}
        leaves = shared | (exported - turning)
    walk = _Walk(source, frozenset(shared))
    walk.block(scope.body, frozenset(leaves), frozenset(), frozenset())
    return [pair for pair in walk.met if pair not in walk.needed]


def _names(node: ast.AST) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name)]


class _Walk:
    """Goes through statements backwards with the names that are needed after each."""

    def __init__(self, source: Source, shared: frozenset[str]) -> None:
        self._source = source
        self._always = shared
        self.met: dict[tuple[ast.stmt, str], None] = {}
        self.needed: set[tuple[ast.stmt, str]] = set()

    def block(
        self, body: Sequence[ast.stmt], after: frozenset[str], broken: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        """What is needed before `body`; `broken` and `again`: what is where its loop is left, or goes on."""
        for statement in reversed(body):
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
                paths = self.block(one.body, after, broken, again) | self.block(one.orelse, after, broken, again)
                return paths | _reads(one.test)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(one, after, broken, again)
            case ast.With() | ast.AsyncWith():
                return self.block(one.body, after, broken, again) | _reads(
                    ast.Tuple([i.context_expr for i in one.items], ast.Load())
                )
            case ast.Try() | ast.TryStar():
                return self._try(one, after, broken, again)
            case ast.Match():
                ways = [self.block(case.body, after, broken, again) | _reads(case.pattern) for case in one.cases]
                return after.union(_reads(one.subject), *ways)
        if target := _target(self._source, one):
            once = sum(node.id == target for node in _names(one)) == 1
            others = _reads(one) - ({target} if once else set())
            return after | others | {_WRITTEN + target}
        return self._assigned(one, after)

    def _assigned(self, one: ast.stmt, after: frozenset[str]) -> frozenset[str]:
        bound = _binds(one)
        needed = [n for n in bound if n in after or (_WRITTEN + n in after and not _is_copy(one))]
        self.met |= dict.fromkeys((one, name) for name in bound)
        self.needed.update((one, name) for name in needed)
        reads = _reads(one)
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
        ended = self.block(one.orelse, after, broken, again)
        begin = ended | (_reads(one.test) if isinstance(one, ast.While) else frozenset())
        for _ in range(3):
            begin |= self.block(one.body, begin, after, begin) - taken
        return begin if isinstance(one, ast.While) else begin | _reads(one.iter) | _reads(one.target)

    def _try(
        self, one: ast.Try | ast.TryStar, after: frozenset[str], broken: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:  # fmt: skip
        last = self.block(one.finalbody, after, broken, again)
        caught = last.union(*(self.block(handler.body, last, broken | last, again | last) for handler in one.handlers))
        outer, self._always = self._always, self._always | caught
        try:
            ended = self.block(one.orelse, last, broken | last, again | last)
            return self.block(one.body, ended, broken | last, again | last)
        finally:
            self._always = outer


def _reads(node: ast.AST) -> frozenset[str]:
    """The names whose values a node takes; a comprehension's own variables are others."""
    if isinstance(node, ast.Name):
        return frozenset({node.id}) if isinstance(node.ctx, ast.Load) else frozenset()
    found = frozenset[str]().union(*map(_reads, ast.iter_child_nodes(node)))
    own = (one for part in getattr(node, "generators", ()) for one in _names(part.target))
    return found - {one.id for one in own}


def _binds(one: ast.stmt) -> list[str]:
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
