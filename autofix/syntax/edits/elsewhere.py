"""Statements computed at another place: moved into the function or loop that uses their values, or repeated there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits.expressions import rename
from autofix.syntax.edits.statements import delete, insert_before, move_before, replace_statement
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

User = ast.FunctionDef | ast.For | ast.While
Plain = ast.Assign | ast.AugAssign
_MAYBE = (ast.If, ast.For, ast.While, ast.Try, ast.AugAssign)
"""Statements that bind what they do perhaps, or go on from it."""


def computed_in(
    source: Source, first: ast.stmt, made: Sequence[ast.stmt], user: User, kept: Sequence[ast.Call] = ()
) -> list[Step]:
    """What was made beside `first`, and what comes of it, computed in `user` instead; [] where that is not the same.

    It comes before the statement that reads it first; one thing alone at the start of a loop. What the calls `kept`
    give stays what it was.
    """
    block = _leading(source, first, user)
    used = {one for each in made if each in block for one in names.forward(each, block[block.index(each) + 1 :])}
    needed = names.backward(_opened(user), [one for one in block if one in used and isinstance(one, Plain)])
    moved = _begun(block, [one for one in needed if isinstance(one, Plain)])
    bound, again = names.bound_by(moved), _bound_again(moved)
    reader = names.first_use(user.body, bound)
    if reader is None or _binds(user) & bound or _hides(user, moved) or _makes_modules(moved, bound):
        return []
    reader = user.body[0] if len(made) == 1 and not isinstance(user, ast.FunctionDef) else reader
    scope = source.function(user)
    own = {id(node) for one in (*moved, user) for node in ast.walk(one)}
    others = [
        node
        for node in source.walk(scope)
        if isinstance(node, (ast.Name, ast.Attribute))
        and id(node) not in own
        and ast.unparse(node) in bound
        and not _other(source, node, scope)
        and not (ast.unparse(node) in again and node.lineno < moved[0].lineno)
    ]
    if any(not isinstance(node.ctx, ast.Load) and source.function(node) is scope for node in others):
        return []
    before = [node for node in others if isinstance(user, ast.FunctionDef) or node.lineno < user.lineno]
    if kept and not again and not before:
        return _with_kept(source, moved, kept, reader)
    if again:
        return [] if before else _under_another_name(source, moved, again, reader, [*others, *ast.walk(user)])
    if len(list(blocks.runs(blocks.block_of(source, moved[0]), moved))) == 1 and not before:
        return move_before(source, moved, reader)
    return insert_before(source, reader, [line for one in moved for line in names.copied(source, one)])


def _leading(source: Source, first: ast.stmt, user: User) -> list[ast.stmt]:
    """The statements of a block, and what follows it to the loop `user`; those of loops between in their place."""
    block = blocks.block_of(source, first)
    found = list(_opened_up(block, user))
    for around in blocks.holders(source, first)[1:]:
        if user in block or isinstance(user, ast.FunctionDef):
            break
        block = blocks.block_of(source, around)
        found += _opened_up(blocks.after(block, around), user)
    return found if user in block else blocks.block_of(source, first)


def _opened_up(block: Sequence[ast.stmt], user: User) -> Iterator[ast.stmt]:
    """The statements before `user`, with those of the bodies of loops instead of these."""
    for one in block:
        if one is user:
            return
        if isinstance(one, (ast.For, ast.While, ast.With)):
            yield from _opened_up(one.body, user)
        else:
            yield one


def _opened(user: User) -> set[str]:
    """The variables that a function or loop reads, but for those that it gives a value before."""
    found: set[str] = set()
    bound: set[str] = set()
    for one in user.body:
        found |= {name for name in names.reads(one) if not names.meets(bound, {name})}
        bound |= {name for name in names.binds(one) if not isinstance(one, _MAYBE)}
    return found


def _makes_modules(moved: Iterable[ast.stmt], bound: set[str]) -> bool:
    """Whether statements make a network whose parameters they ask for: made again, it would begin again."""
    called = (call.func for call in calls.within(*moved))
    asked = (func.value for func in called if isinstance(func, ast.Attribute) and "parameters" in func.attr)
    return names.meets(bound, map(calls.path_of, asked))


def _with_kept(source: Source, moved: Sequence[Plain], kept: Sequence[ast.Call], reader: ast.stmt) -> list[Step]:
    """Statements moved, while the values of some calls in them are still made where they stood, under new names."""
    new: dict[ast.AST, str] = {}
    for call in kept:
        name = names.unused(source, f"{calls.name_of(call)}_kept")
        new[call] = name if name not in new.values() else f"{name}_{len(new) + 1}"
    lines = [line for one in moved for line in names.copied(source, one, renamed=new)]
    steps = insert_before(source, reader, lines)
    for one in moved:
        inside = [f"{new[part]} = {source.segment(part)}" for part in ast.walk(one) if part in new]
        steps += replace_statement(source, one, inside) if inside else delete(source, one)
    return steps


def _begun(block: Sequence[ast.stmt], moved: list[Plain]) -> list[Plain]:
    """With the statements that gave a variable, which these bind again, the value that they begin with.

    `A = w.exp()`, `A = A + 1`: computed once more, the second alone would go on from what it came to before. A value
    that something else holds, too, as an optimizer does its leaves, stays where it is.
    """
    while again := _bound_again(moved):
        before = block[: block.index(moved[0])]
        start = next((one for one in reversed(before) if names.binds(one) & again), None)
        if not isinstance(start, Plain):
            break
        between = block[block.index(start) + 1 : block.index(moved[-1])]
        leading = names.backward(names.read_by(moved), between)
        wanted = names.forward(start, between)
        if any(one not in moved and not (one in leading and isinstance(one, Plain)) for one in wanted[1:]):
            break
        moved = [one for one in block if isinstance(one, Plain) and (one in moved or one in wanted)]
    return moved


def _bound_again(statements: Iterable[Plain]) -> set[str]:
    """The variables that statements read before they bind them."""
    opened: set[str] = set()
    bound: set[str] = set()
    for one in statements:
        opened |= {name for name in names.reads(one) if not names.meets(bound, {name})}
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        bound |= {calls.path_of(calls.whole(part)) for target in targets for part in names.parts(target)}
    return {name for name in bound if name and names.meets({name}, opened)}


def _under_another_name(
    source: Source, moved: Sequence[Plain], again: set[str], reader: ast.stmt, nodes: Iterable[ast.AST]
) -> list[Step]:
    """Statements that bind a variable again, moved, with a name of its own for what they come to."""
    if not all(name.isidentifier() for name in again):
        return []
    new = {name: names.unused(source, f"{name}_now") for name in sorted(again)}
    lines: list[str] = []
    known: set[str] = set()
    steps: list[Step] = []
    for one in moved:
        inside = [node for node in ast.walk(one) if isinstance(node, ast.Name) and node.id in new]
        if isinstance(one, ast.AugAssign) and names.binds(one) & again - known:
            return []
        fresh = {node: new[node.id] for node in inside if node.id in known or isinstance(node.ctx, ast.Store)}
        lines += names.copied(source, one, renamed=fresh)
        known |= names.binds(one)
        steps += delete(source, one)
    read = [node for node in nodes if isinstance(node, ast.Name) and node.id in new]
    steps += [step for node in dict.fromkeys(read) for step in rename(source, node, new[node.id])]
    return [*steps, *insert_before(source, reader, lines)]


def _other(source: Source, node: ast.AST, scope: Function | None) -> bool:
    """Whether a name is another function's own."""
    function = source.function(node)
    return function is not None and function is not scope and ast.unparse(node) in names.locals_of(function)


def _hides(user: User, moved: Sequence[ast.stmt]) -> bool:
    """Whether a function has names of its own that statements, computed in it, would read."""
    own = names.locals_of(user) if isinstance(user, ast.FunctionDef) else ()
    return any(names.meets(own, names.reads(one)) for one in moved)


def _binds(user: User) -> set[str]:
    return names.bound_by(user.body) if isinstance(user, ast.FunctionDef) else names.binds(user)
