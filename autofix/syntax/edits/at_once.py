"""Tensors that are written in turn, so that one write reads what another has left: each by what was before them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from autofix.core.edit import Declined
from autofix.syntax.blocks import block_of, loops
from autofix.syntax.calls import name_of, parameters, path_of, whole
from autofix.syntax.edits.statements import delete, insert_before, replace_statement
from autofix.syntax.edits.steps import Step
from autofix.syntax.names import assignments, binds
from autofix.syntax.source import Source

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_SCALES = (ast.Mult, ast.Div)
_WHOLE = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
"""What needs no parentheses behind an operator."""
_FILLED = ("ones", "ones_like", "new_ones", "full", "full_like", "new_full", "tensor", "eye")
"""What a product begins with that is to grow factor by factor."""


def at_once(source: Source, node: ast.AST) -> list[Step]:
    """The steps by which each of several writes in turn, one of which `node` is, reads what was before them.

    Of `a -= f(b)` and `b -= f(a)` they make `a, b = a - f(b), b - f(a)`. Of `x *= masks[k]` in a loop over `k` that
    uses each product, they make one that begins with what `x` was before the loop. Declines where the writes are
    neither the same with two names exchanged nor such factors: then each may be meant by itself.
    """
    statement = source.statement(node)
    block = block_of(source, statement)
    for first, second in (pair for pair in pairwise(block) if statement in pair):
        if isinstance(first, ast.AugAssign) and isinstance(second, ast.AugAssign) and _are_mirrored(first, second):
            targets = ", ".join(ast.unparse(one.target) for one in (first, second))
            values = ", ".join(_value(source, one, ast.unparse(one.target)) for one in (first, second))
            return [*replace_statement(source, first, [f"{targets} = {values}"]), *delete(source, second)]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        for first, writes in _factors(source, statement, block):
            name = statement.target.id
            before = f"{name}_before"
            made = ((one, [f"{name} = {_value(source, one, before)}"]) for one in writes)
            anew = [step for one, lines in made for step in replace_statement(source, one, lines)]
            return [*insert_before(source, first, [f"{before} = {name}"]), *anew]
    raise Declined("no write beside it is the same with the two names exchanged, and it is no factor of several")


def _factors(
    source: Source, write: ast.AugAssign, block: list[ast.stmt]
) -> Iterator[tuple[ast.stmt, list[ast.AugAssign]]]:
    """The writes that multiply one factor of several onto what `write` goes to, and the first statement of these.

    They are one statement in a loop, whose factor is that of the turn and is made of nothing that the loop makes; or
    several with items of one tensor. Each product is used before the next, and the first is no product of ones.
    """
    name = path_of(write.target)
    loop = next(loops(source, write), None)
    if not isinstance(write.op, _SCALES) or name in _read(write.value):
        return
    if isinstance(loop, ast.For) and (turn := binds(loop.target)) & _read(write.value):
        others = [one for one in ast.walk(loop) if isinstance(one, ast.stmt) and one not in (loop, write)]
        made = set().union(*map(binds, others)) if others else set()
        used = any(name in _read(one) for one in block[block.index(write) + 1 :])
        if used and name not in made and not (made - turn) & _read(write.value) and _is_given(source, loop, name):
            yield loop, [write]
    items = [one for one in block if isinstance(one, ast.AugAssign) and _is_item_like(one, write)]
    between = [block[block.index(a) + 1 : block.index(b)] for a, b in pairwise(items)]
    if between and all(any(name in _read(one) for one in some) for some in between):
        bound = {one for some in between for statement in some for one in binds(statement)}
        if name not in bound and not bound & _read(write.value) and _is_given(source, items[0], name):
            yield items[0], items


def _is_item_like(one: ast.AugAssign, write: ast.AugAssign) -> bool:
    """Whether a write multiplies an item of the same tensor onto the same name."""
    return (
        path_of(one.target) == path_of(write.target)
        and type(one.op) is type(write.op)
        and isinstance(one.value, ast.Subscript)
        and ast.dump(whole(one.value)) == ast.dump(whole(write.value))
    )


def _is_given(source: Source, first: ast.stmt, name: str) -> bool:
    """Whether a name holds what was given or computed before a statement, and not ones that a product begins with."""
    function = source.function(first)
    before = (one for one in assignments(source, name) if one.lineno < first.lineno)
    bound = [one for one in before if source.function(one) is function]
    if not bound:
        return function is not None and name in parameters(function)
    made = [
        _given(target, one.value, name) for one in bound[-1:] if isinstance(one, ast.Assign) for target in one.targets
    ]
    return any(
        value is not None and not isinstance(value, ast.Constant) and name_of(value) not in _FILLED for value in made
    )


def _given(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    """What an assignment gives to a name; None where that cannot be told."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        found = (_given(*pair, name) for pair in zip(target.elts, value.elts, strict=True))
        return next(filter(None, found), None)
    return value if path_of(target) == name else None


def _read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _are_mirrored(first: ast.AugAssign, second: ast.AugAssign) -> bool:
    if type(first.op) is not type(second.op) or type(first.op) not in _SIGNS:
        return False
    if not path_of(first.target) or not path_of(second.target):
        return False
    one, other = (ast.dump(ast.parse(path_of(each.target), mode="eval").body) for each in (first, second))
    mine, exchanged = (
        ast.dump(first.value),
        other.join(part.replace(other, one) for part in ast.dump(second.value).split(one)),
    )
    return one != other and other in mine and mine == exchanged


def _value(source: Source, write: ast.AugAssign, left: str) -> str:
    value = source.segment(write.value)
    operand = value if isinstance(write.value, _WHOLE) else f"({value})"
    return f"{left} {_SIGNS[type(write.op)]} {operand}"
