"""In-place writes to one tensor: those of a function while its variable holds it, and whether they are meant alike."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autofix.syntax.blocks import block_of
from autofix.syntax.calls import path_of
from autofix.syntax.live import Scope, nodes_of
from autofix.syntax.reaching import Reaching
from autofix.syntax.source import Source
from autofix.syntax.writes import written

_WRITES = (ast.AugAssign, ast.Subscript, ast.Call)


def writes_to_one(source: Source, node: ast.AST) -> list[ast.AST]:
    """This write and the others of its function that may write to what its variable holds, in their order."""
    name, scope = written(source, node), source.function(node) or source.tree
    found = {source.statement(node): node}
    for one in nodes_of(scope) if name else ():
        if isinstance(one, _WRITES) and written(source, one) == name:
            found.setdefault(source.statement(one), one)
    given = _given(scope, name, found)
    group = given.pop(source.statement(node))
    while joined := [statement for statement, some in given.items() if some & group]:
        group = group.union(*(given.pop(statement) for statement in joined))
    return [one for statement, one in sorted(found.items(), key=lambda item: item[0].lineno) if statement not in given]


def writes_by_names(source: Source, node: ast.AST) -> list[ast.AST]:
    """This write and those of its block by other names that one variable was given (`a = x`, `a *= f(x)`, `b = x`)."""
    block = block_of(source, source.statement(node))
    given = {path_of(one.targets[0]): path_of(one.value) for one in block if isinstance(one, ast.Assign)}
    held = given.get(written(source, node), "")
    writes = (one for one in block if isinstance(one, ast.AugAssign) and held)
    return [one for one in writes if given.get(path_of(one.target), "") == held]


def are_one(source: Source, nodes: Sequence[ast.AST]) -> bool:
    """Whether these writes to one tensor are meant in one way: `x *= …`, then `x += …`, and no name is given between.

    The new value of each is the name's, or none is. A part that is written, or a method whose value is dropped, is
    written on purpose.
    """
    if len(nodes) == 1:
        return True
    if not all(isinstance(one, ast.AugAssign) and path_of(one.target) for one in nodes):
        return False
    name, lines = written(source, nodes[0]), [source.statement(one).lineno for one in nodes]
    names = (
        one for one in nodes_of(source.function(nodes[0]) or source.tree) if isinstance(one, (ast.Name, ast.Attribute))
    )
    between = (one for one in names if path_of(one) == name and min(lines) < one.lineno < max(lines))
    return not any(isinstance(one.ctx, ast.Load) and _is_kept(source, one) for one in between)


def _given(scope: Scope, name: str, statements: Iterable[ast.stmt]) -> dict[ast.stmt, frozenset[ast.AST]]:
    """What may have given the variable its value where each of some statements writes to it, and the statement."""
    reads = {read: found for read, found in Reaching(scope).reads.items() if path_of(read) == name}
    given = {}
    for one in statements:
        inside = [reads[read] for read in ast.walk(one) if isinstance(read, ast.expr) and read in reads]
        given[one] = frozenset({one}).union(*inside)
    return given


def _is_kept(source: Source, name: ast.expr) -> bool:
    """Whether a tensor is given another name, put into a container, or handed to a call whose value is dropped."""
    match source.parent(name):
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return True
        case ast.Call() as call:
            return name in call.args and isinstance(source.parent(call), ast.Expr)
    return False
