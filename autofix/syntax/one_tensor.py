"""In-place writes to one tensor: those of a function while its variable holds it, and whether they are meant alike."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from autofix.syntax.blocks import block_of
from autofix.syntax.calls import name_of, path_of, within
from autofix.syntax.live import nodes_of
from autofix.syntax.names import binds
from autofix.syntax.reaching import Reaching
from autofix.syntax.source import Source
from autofix.syntax.writes import written

Reads = Mapping[ast.expr, frozenset[ast.AST]]
_WRITES = (ast.AugAssign, ast.Subscript, ast.Call)


def writes_to_one(source: Source, node: ast.AST) -> list[ast.AST]:
    """This write and the others of its function that may write to what its variable holds, in their order.

    Where that is a second name of another variable (`left = x`, `left *= …`), also those by its other second names.
    """
    scope = source.function(node) or source.tree
    reads = Reaching(scope).reads
    each = {node: None} | {one: None for one in nodes_of(scope) if isinstance(one, _WRITES) and written(source, one)}
    group = _by_one_name(source, node, each, reads)
    second = _second_of(source, group[0], reads)
    found = {source.statement(one): one for one in group}
    for one in each if second else ():
        other = _by_one_name(source, one, each, reads)
        if _second_of(source, other[0], reads) == second:
            found = {source.statement(write): write for write in other} | found
    return [one for _, one in sorted(found.items(), key=lambda item: item[0].lineno)]


def written_alike(source: Source, node: ast.AST) -> list[ast.AST]:
    """This write and those of its block by the same method, whose value is used where it is written, as this one's is.

    As in `a - x.pow_(2)` and `b - y.pow_(2)`: whoever means one of them to make a new value means it of each.
    """
    used = [
        call
        for call in within(*block_of(source, source.statement(node)))
        if name_of(call) == name_of(node) and written(source, call) and not isinstance(source.parent(call), ast.Expr)
        and written(source, call) not in binds(source.statement(call))
    ]  # fmt: skip
    return [*used] if node in used else [node]


def are_one(source: Source, nodes: Sequence[ast.AST]) -> bool:
    """Whether these writes to one tensor are meant in one way: `x *= …`, then `x += …`, and no name is given between.

    The new value of each is the name's, or none is. A part that is written, or a method whose value is dropped, is
    written on purpose. Who writes by a second name takes that for another tensor, by each second name alike.
    """
    if len(nodes) == 1:
        return True
    if not all(isinstance(one, ast.AugAssign) and path_of(one.target) for one in nodes):
        return False
    names = [
        one for one in nodes_of(source.function(nodes[0]) or source.tree) if isinstance(one, (ast.Name, ast.Attribute))
    ]
    for name in {written(source, one) for one in nodes}:
        lines = [source.statement(one).lineno for one in nodes if written(source, one) == name]
        between = (one for one in names if path_of(one) == name and min(lines) < one.lineno < max(lines))
        if any(isinstance(one.ctx, ast.Load) and _is_kept(source, one) for one in between):
            return False
    return True


def _by_one_name(source: Source, node: ast.AST, writes: Iterable[ast.AST], reads: Reads) -> list[ast.AST]:
    """This write and those of others that may write to what its variable holds by the same name, in their order."""
    name = written(source, node)
    found = {source.statement(node): node}
    for one in writes:
        if name and written(source, one) == name:
            found.setdefault(source.statement(one), one)
    given = {one: _given(name, one, reads) for one in found}
    group = given.pop(source.statement(node))
    while joined := [statement for statement, some in given.items() if some & group]:
        group = group.union(*(given.pop(statement) for statement in joined))
    return [one for statement, one in sorted(found.items(), key=lambda item: item[0].lineno) if statement not in given]


def _given(name: str, statement: ast.stmt, reads: Reads) -> frozenset[ast.AST]:
    """What may have given the variable its value where a statement writes to it, and the statement."""
    inside = (one for one in ast.walk(statement) if isinstance(one, ast.expr) and one in reads)
    return frozenset({statement}).union(*(reads[one] for one in inside if path_of(one) == name))


def _second_of(source: Source, write: ast.AST, reads: Reads) -> tuple[str, frozenset[ast.AST] | None] | None:
    """The variable, and what gave it its value, of which the name that is written is a second name; None elsewhere."""
    statement = source.statement(write)
    match [*_given(written(source, write), statement, reads) - {statement}]:
        case [ast.Assign(targets=[ast.Name()], value=ast.Name() as first)]:
            return first.id, reads.get(first)
    return None


def _is_kept(source: Source, name: ast.expr) -> bool:
    """Whether a tensor is given another name, put into a container, or handed to a call whose value is dropped."""
    match source.parent(name):
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
            return True
        case ast.Call() as call:
            return name in call.args and isinstance(source.parent(call), ast.Expr)
    return False
