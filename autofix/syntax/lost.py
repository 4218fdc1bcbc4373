"""Writes that an edit loses: what was written to a tensor goes to a name that nothing reads afterwards."""

from __future__ import annotations

import ast
import functools
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from autofix.syntax.calls import name_of
from autofix.syntax.live import Needed, Scope, bound_by, nodes_of, written_by
from autofix.syntax.source import Source, SourceError, within
from autofix.syntax.sources import parsed
from autofix.syntax.vocabulary import writes
from autofix.syntax.writes import chain, root, written

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lost_write(path: Path, old: bytes, new: bytes) -> tuple[str, int]:
    """A name that an edit binds in place of a write, and that nothing reads, with its line in `new`; ('', 0) if none.

    `for p in params: p.copy_(s)` changes parameters; `p = s.clone()` in its place changes nothing at all. So does
    `p = p.clone()` before the write, and what binds nothing: `p.clone().copy_(s)`, or `p.clamp(0)` for `p.clamp_(0)`. A
    name that a function inside, another module or the next pass may read is no such name.
    """
    try:
        before = parsed(path, old)
        if not _may_lose(before, new):
            return "", 0
        after = Source(path, new, before)
        ours, theirs = _scopes_of(before), _scopes(after.tree, "")
    except SourceError:
        return "", 0
    exported = frozenset(node.id for node in nodes_of(before.tree) if isinstance(node, ast.Name))
    for name, scope in theirs:
        mine = ours.get(name)
        if mine is None or (name and before.segment(mine) == after.segment(scope)):
            continue
        for bound, line in _dropped(after, scope, before, mine):
            return bound, line
        added, gone = _bindings(scope) - _bindings(mine), _writes(before, mine) - _writes(after, scope)
        kept = frozenset() if name else exported
        unread = Needed(after, scope, kept).unread()
        idle = Needed(before, mine, kept).unread()  # as S is in `U, S, V = svd(x)`, before and after
        never = {bound for one, bound in idle if not any(written(before, node) for node in ast.walk(one))}
        times = Counter(ast.unparse(statement) for statement in {statement for statement, _ in unread})
        for statement, bound in unread:
            text = ast.unparse(statement)
            # Of two that are the same, the one that was there before may be the one that nothing reads any more.
            fresh = added[text] and times[text] > _bindings(scope)[text] - added[text]
            fresh = fresh and (bound not in never or bool(gone[bound]))
            if fresh and (gone or bound in _written_in(after, scope)):
                return bound, statement.lineno
    return "", 0


def _dropped(after: Source, scope: Scope, before: Source, mine: Scope) -> Iterator[tuple[str, int]]:
    """The variables of which a scope writes fewer times, and now drops what it makes of them, each with its line."""
    known, twins = {ast.unparse(node) for node in _expressions(mine)}, _twins(before, mine)
    for node in _expressions(scope):
        if ast.unparse(node) in known or not (_copies(node) or twins & {*_called(node)}):
            continue
        name, inside = root(node), {id(one) for one in ast.walk(node)}
        left = sum(written(after, one) == name for one in nodes_of(scope) if id(one) not in inside)
        if left < _writes(before, mine)[name]:
            yield name, node.lineno


def _expressions(scope: Scope) -> Iterator[ast.Call]:
    """The calls of a scope whose value is dropped."""
    return (node.value for node in nodes_of(scope) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _called(call: ast.Call) -> Iterator[str]:
    """The methods that are called on each other before the first that writes, in that order."""
    names = (name_of(one) for one in reversed([*chain(call)]))
    return itertools.takewhile(lambda name: not writes(name), names)


def _copies(call: ast.Call) -> bool:
    """Whether what a call writes to is a copy."""
    names = [*map(name_of, chain(call))]
    return "clone" in _called(call) and any(map(writes, names))


@functools.lru_cache(maxsize=16)
def _twins(source: Source, scope: Scope) -> set[str]:
    """The methods that make a new tensor of what the writes of a scope make in place."""
    calls = (node for node in nodes_of(scope) if isinstance(node, ast.Call) and written(source, node))
    return {name_of(call).removesuffix("_") for call in calls if writes(name_of(call))}


def _may_lose(before: Source, new: bytes) -> bool:
    """Whether a scope binds more than it did, and writes less or to that; by the statements that differ, for speed."""
    try:
        old, now = map(_scopes_in, before.differing(new))
    except (SyntaxError, ValueError):
        return True
    whole = _scopes_of(before)
    for name in now.keys() & old.keys() & whole.keys():
        added = _bindings(now[name]) - _bindings(old[name])
        bound = {one for text in added for one in bound_by(ast.parse(text).body[0])}
        if bound and _writes(before, old[name]) - _writes(before, now[name]):
            return True
        if any(_copies(node) or _twins(before, whole[name]) & {*_called(node)} for node in _expressions(now[name])):
            return True
        if any(bound & _written_in(before, scope) for scope in (whole[name], now[name]) if bound):
            return True
    return False


@functools.lru_cache(maxsize=4)  # of what is as it was for every edit
def _scopes_in(text: bytes) -> dict[str, Scope]:
    return dict(_scopes(ast.parse(text), ""))


@functools.lru_cache(maxsize=4)
def _scopes_of(source: Source) -> dict[str, Scope]:
    return dict(_scopes(source.tree, ""))


def _scopes(node: ast.AST, prefix: str) -> Iterator[tuple[str, Scope]]:
    """The module and its functions, each with its qualified name."""
    if isinstance(node, ast.Module):
        yield "", node
    for child in within(node):
        name = f"{prefix}.{child.name}" if isinstance(child, (*_FUNCTIONS, ast.ClassDef)) else prefix
        if isinstance(child, _FUNCTIONS):
            yield name, child
        yield from _scopes(child, name)


@functools.lru_cache(maxsize=16)
def _bindings(scope: Scope) -> Counter[str]:
    return Counter(ast.unparse(node) for node in nodes_of(scope) if isinstance(node, ast.stmt) and bound_by(node))


@functools.lru_cache(maxsize=16)
def _writes(source: Source, scope: Scope) -> Counter[str]:
    """How often a scope writes to the tensors of each variable in place."""
    return Counter(name for node in nodes_of(scope) if (name := written(source, node)))


@functools.lru_cache(maxsize=16)
def _written_in(source: Source, scope: Scope) -> set[str]:
    """The names whose tensors a scope writes in place."""
    return {written_by(source, node) for node in nodes_of(scope) if isinstance(node, ast.stmt)}
