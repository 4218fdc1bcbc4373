"""Statements computed at another place: moved into the function or loop that uses their values, or repeated there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.syntax import blocks, names, update
from autofix.syntax.edits.statements import insert_before, move_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autofix.syntax.calls import Function
    from autofix.syntax.edits.steps import Step
    from autofix.syntax.source import Source

User = ast.FunctionDef | ast.For | ast.While


def computed_in(
    source: Source, first: ast.stmt, made: Sequence[ast.stmt], user: User, *, at_start: bool = False
) -> list[Step]:
    """What was made beside `first`, and what comes of it, computed in `user` instead; [] where that is not the same.

    It comes before the statement that reads it first, or `at_start`.
    """
    block = blocks.block_of(source, first)
    block = block[: block.index(user)] if user in block else block
    used = {one for each in made if each in block for one in names.forward(each, block[block.index(each) + 1 :])}
    moved = [one for one in block if one in used and isinstance(one, (ast.Assign, ast.AugAssign))]
    bound = update.bound(moved)
    reader = _reader(user, bound)
    if reader is None or _binds(user) & bound or not _begins(moved) or _hides(user, moved):
        return []
    reader = user.body[0] if at_start else reader
    scope = source.function(user)
    own = {id(node) for one in (*moved, user) for node in ast.walk(one)}
    others = [
        node
        for node in ast.walk(scope or source.tree)
        if isinstance(node, (ast.Name, ast.Attribute))
        and id(node) not in own
        and ast.unparse(node) in bound
        and not _other(source, node, scope)
    ]
    if any(not isinstance(node.ctx, ast.Load) and source.function(node) is scope for node in others):
        return []
    before = [node for node in others if isinstance(user, ast.FunctionDef) or node.lineno < user.lineno]
    if len(list(blocks.runs(block, moved))) == 1 and not before:
        return move_before(source, moved, reader)
    return insert_before(source, reader, [line for one in moved for line in names.copied(source, one)])


def _begins(moved: Sequence[ast.stmt]) -> bool:
    """Whether each variable that statements add to was given its value by one of them."""
    bound: set[str] = set()
    for one in moved:
        if isinstance(one, ast.AugAssign) and not names.binds(one) <= bound:
            return False
        bound |= names.binds(one)
    return True


def _other(source: Source, node: ast.AST, scope: Function | None) -> bool:
    """Whether a name is another function's own."""
    function = source.function(node)
    return function is not None and function is not scope and ast.unparse(node) in names.locals_of(function)


def _hides(user: User, moved: Sequence[ast.stmt]) -> bool:
    """Whether a function has names of its own that statements, computed in it, would read."""
    own = names.locals_of(user) if isinstance(user, ast.FunctionDef) else ()
    return any(names.meets(own, names.reads(one)) for one in moved)


def _reader(function: User, bound: Iterable[str]) -> ast.stmt | None:
    """The first statement of a function or loop that reads one of some variables."""
    return next((one for one in function.body if names.meets(bound, names.reads(one))), None)


def _binds(user: User) -> set[str]:
    return update.bound(user.body) if isinstance(user, ast.FunctionDef) else names.binds(user)
