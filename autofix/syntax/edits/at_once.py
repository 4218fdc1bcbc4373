"""Two tensors that are written in turn, each by what the other is: both at once, by what they were before."""

from __future__ import annotations

import ast
from itertools import pairwise

from autofix.core.edit import Declined
from autofix.syntax.blocks import block_of
from autofix.syntax.calls import path_of
from autofix.syntax.edits.statements import delete, replace_statement
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_WHOLE = (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
"""What needs no parentheses behind an operator."""


def at_once(source: Source, node: ast.AST) -> list[Step]:
    """The steps that make `a, b = a - f(b), b - f(a)` of `a -= f(b)` and `b -= f(a)`, one of which `node` is.

    Declines where they are not one statement with the two names exchanged: then each may be meant by itself.
    """
    statement = source.statement(node)
    beside = (pair for pair in pairwise(block_of(source, statement)) if statement in pair)
    for first, second in beside:
        if isinstance(first, ast.AugAssign) and isinstance(second, ast.AugAssign) and _are_mirrored(first, second):
            targets = ", ".join(ast.unparse(one.target) for one in (first, second))
            values = ", ".join(_value(source, one) for one in (first, second))
            return [*replace_statement(source, first, [f"{targets} = {values}"]), *delete(source, second)]
    raise Declined("no write beside it is the same with the two names exchanged")


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


def _value(source: Source, write: ast.AugAssign) -> str:
    value = source.segment(write.value)
    operand = value if isinstance(write.value, _WHOLE) else f"({value})"
    return f"{ast.unparse(write.target)} {_SIGNS[type(write.op)]} {operand}"
