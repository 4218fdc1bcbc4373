"""Tensors that are written in turn, so that one write reads what another has left: each by what was before them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from autofix.core.edit import Declined
from autofix.syntax import update
from autofix.syntax.blocks import block_of, loops
from autofix.syntax.calls import name_of, parameters, path_of, whole
from autofix.syntax.edits.out_of_place import out_of_place
from autofix.syntax.edits.statements import delete, insert_before, replace_statement
from autofix.syntax.edits.steps import Step
from autofix.syntax.names import assignments, binds, bound_by, reads
from autofix.syntax.source import Source
from autofix.syntax.writes import chain, in_place, written

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_WHOLE = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
"""What needs no parentheses behind an operator."""
_FILLED = ("ones", "ones_like", "new_ones", "full", "full_like", "new_full", "tensor", "eye")
"""What a product begins with that is to grow factor by factor."""


def at_once(source: Source, node: ast.AST) -> list[Step]:
    """The steps by which each of several writes in turn, one of which `node` is, reads what was before them.

    Of `a -= f(b)` and `b -= f(a)` they make `a, b = a - f(b), b - f(a)`. Of `x *= masks[k]` in a loop over `k` that
    uses each product, they make one that begins with what `x` was before the loop. `x.mul_(k).add_(x[order])` becomes
    `x = x.mul(k).add(x[order])`. Declines where the writes are neither the same with two names exchanged, nor such
    factors, nor a chain that reads what it writes: then each may be meant by itself.
    """
    statement = source.statement(node)
    if isinstance(node, ast.Call) and _reads_itself(source, node):
        return out_of_place(source, node)
    block = block_of(source, statement)
    for first, second in (pair for pair in pairwise(block) if statement in pair):
        if isinstance(first, ast.AugAssign) and isinstance(second, ast.AugAssign) and _are_mirrored(first, second):
            targets = ", ".join(ast.unparse(one.target) for one in (first, second))
            operands = ((ast.unparse(one.target), _SIGNS[type(one.op)], one.value) for one in (first, second))
            values = ", ".join(_product(source, *each) for each in operands)
            return [*replace_statement(source, first, [f"{targets} = {values}"]), *delete(source, second)]
    if (written := _scaled(statement)) is not None:
        for first, writes in _factors(source, written, block):
            before = f"{written.name}_before"
            made = [(one.statement, _product(source, before, one.sign, one.factor)) for one in writes]
            anew = (replace_statement(source, one, [f"{written.name} = {value}"]) for one, value in made)
            return [
                *insert_before(source, first, [f"{before} = {written.name}"]),
                *(step for one in anew for step in one),
            ]
    raise Declined("no write beside it is the same with the two names exchanged, and it is no factor of several")


def _reads_itself(source: Source, call: ast.Call) -> bool:
    """Whether a link of a chain of writes reads the tensor that a link before it has written."""
    path = written(source, call)
    links = [one for one in chain(_last_link(source, call)) if in_place(one)]
    later = (value for one in links[:-1] for value in (*one.args, *(key.value for key in one.keywords)))
    return bool(path) and any(path in reads(value) for value in later)


def _last_link(source: Source, call: ast.Call) -> ast.Call:
    """The last call of a chain of methods of which a call is one."""
    match source.parent(call):
        case ast.Attribute() as link if isinstance(outer := source.parent(link), ast.Call) and outer.func is link:
            return _last_link(source, outer)
    return call


class _Scaled(NamedTuple):
    """A statement that multiplies a factor onto what a name holds, or divides that by it."""

    statement: ast.stmt
    name: str
    sign: str
    factor: ast.expr


def _scaled(statement: ast.stmt) -> _Scaled | None:
    match statement:
        case ast.AugAssign(ast.Name(name), ast.Mult() | ast.Div() as op, factor):
            return _Scaled(statement, name, _SIGNS[type(op)], factor)
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "mul_" | "div_" as called), [factor], [])):
            return _Scaled(statement, name, "*" if called == "mul_" else "/", factor)
    return None


def _factors(source: Source, write: _Scaled, block: list[ast.stmt]) -> Iterator[tuple[ast.stmt, list[_Scaled]]]:
    """The writes that multiply one factor of several onto what `write` goes to, and the first statement of these.

    They are one statement in a loop, whose factor is that of the turn and is made of nothing that the loop makes; or
    several with parts of one tensor. Each product is used before the next, and the first is no product of ones.
    """
    name, used = write.name, _read(write.factor)
    if name in used:
        return
    loop = next(loops(source, write.statement), None)
    if isinstance(loop, ast.For) and (turn := binds(loop.target)) & used:
        others = [one for one in ast.walk(loop) if isinstance(one, ast.stmt) and one not in (loop, write.statement)]
        behind = block[block.index(write.statement) + 1 :]
        bound = bound_by(others) - turn
        if name in _read(*behind) and name not in bound and not bound & used and _is_given(source, loop, name):
            yield loop, [write]
    found = [one for one in map(_scaled, block) if one is not None and one[1:3] == write[1:3]]
    like = [one for one in found if _are_parts(source, one.factor, write.factor)]
    between = [block[block.index(one.statement) + 1 : block.index(other.statement)] for one, other in pairwise(like)]
    if between and all(name in _read(*some) for some in between):
        bound = bound_by(one for some in between for one in some)
        if name not in bound and not bound & used and _is_given(source, like[0].statement, name):
            yield like[0].statement, like


def _are_parts(source: Source, one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions are items of one tensor, or names that one statement binds."""
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript):
        return ast.dump(whole(one)) == ast.dump(whole(other))
    named = (assignments(source, each.id) if isinstance(each, ast.Name) else () for each in (one, other))
    return bool(set.intersection(*map(set, named)))


def _is_given(source: Source, first: ast.stmt, name: str) -> bool:
    """Whether a name holds what was given or computed before a statement, and not ones that a product begins with."""
    function = source.function(first)
    before = (one for one in assignments(source, name) if one.lineno < first.lineno)
    bound = [one for one in before if source.function(one) is function]
    if not bound:
        return function is not None and name in parameters(function)
    made = [each.value for each in update.bindings(bound[-1]) if each.path == name]
    return any(not isinstance(value, ast.Constant) and name_of(value) not in _FILLED for value in made)


def _read(*nodes: ast.AST) -> set[str]:
    inside = (one for node in nodes for one in ast.walk(node))
    return {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


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


def _product(source: Source, left: str, sign: str, factor: ast.expr) -> str:
    text = source.segment(factor)
    return f"{left} {sign} {text if isinstance(factor, _WHOLE) else f'({text})'}"
