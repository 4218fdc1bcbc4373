"""When an expression needs parentheses, and which ones it already has."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.edit import Declined
from autofix.rewrite.tokens import tokens_of

if TYPE_CHECKING:
    from autofix.source import Source

PRIMARY = 16
_ANY = 1
_UNARY = 13
_OPERATORS: dict[type[ast.AST], int] = {
    ast.Or: 3,
    ast.And: 4,
    ast.Not: 5,
    ast.BitOr: 7,
    ast.BitXor: 8,
    ast.BitAnd: 9,
    ast.LShift: 10,
    ast.RShift: 10,
    ast.Add: 11,
    ast.Sub: 11,
    ast.Mult: 12,
    ast.MatMult: 12,
    ast.Div: 12,
    ast.FloorDiv: 12,
    ast.Mod: 12,
    ast.UAdd: _UNARY,
    ast.USub: _UNARY,
    ast.Invert: _UNARY,
    ast.Pow: 14,
}
_OTHERS: dict[type[ast.AST], int] = {
    ast.NamedExpr: 0,
    ast.Yield: 0,
    ast.YieldFrom: 0,
    ast.Starred: 0,
    ast.Slice: 0,
    ast.Lambda: 1,
    ast.IfExp: 2,
    ast.Compare: 6,
    ast.Await: 15,
}


def binding(source: Source | None, node: ast.AST) -> int:
    """How tightly an expression holds together as written, without parentheses of its own around it."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.UnaryOp(op=op):
            return _OPERATORS[type(op)]
        case ast.Tuple() if source is not None and not has_brackets(source, node):
            return 0
        case ast.GeneratorExp() if source is not None and in_call_parentheses(source, node):
            return 0
    return _OTHERS.get(type(node), PRIMARY)


def right_operand_binding(operator: ast.operator) -> int:
    """How tightly the right operand of an operator must hold to stand there bare."""
    if isinstance(operator, ast.Pow):
        return _UNARY
    return _OPERATORS[type(operator)] + 1


def required(source: Source, node: ast.expr) -> int:
    """How tightly an expression must hold together to stand bare in the place of `node`."""
    match source.parent(node):
        case ast.Assign(value=value) | ast.Return(value=value) | ast.AugAssign(value=value) if value is node:
            return _ANY
        case ast.keyword() | ast.Expr() | ast.List() | ast.Set() | ast.Tuple():
            return _ANY
        case ast.Call(args=args) if node in args:
            return _ANY
        case ast.BinOp(right=right, op=op) if right is node:
            return right_operand_binding(op)
        case ast.BinOp(op=op):
            return _OPERATORS[type(op)] + isinstance(op, ast.Pow)
    return binding(source, node)


def has_brackets(source: Source, node: ast.AST) -> bool:
    """Whether a node begins and ends with one pair of brackets, as a tuple may."""
    start, end = source.extent(node)
    return tokens_of(source).partner.get(start) == end - 1


def in_call_parentheses(source: Source, node: ast.AST) -> bool:
    """Whether a generator expression borrows the parentheses of the call it is the argument of."""
    call = source.parent(node)
    if not (isinstance(node, ast.GeneratorExp) and isinstance(call, ast.Call) and node in call.args):
        return False
    return source.extent(node)[1] == source.extent(call)[1]


def own(source: Source, node: ast.AST) -> list[tuple[int, int]]:
    """The places of the parentheses around just this node, innermost first; a call's do not count."""
    tokens, holder = tokens_of(source), source.parent(node)
    start, end = source.extent(node)
    found: list[tuple[int, int]] = []
    while True:
        before, after = tokens.before(start), tokens.after(end)
        if before is None or after is None or tokens.partner.get(before.start) != after.start:
            return found
        if before.text != "(" or _belongs_to(source, holder, node, after.end):
            return found
        start, end = before.start, after.end
        found.append((start, after.start))


def outer(source: Source, node: ast.AST) -> tuple[int, int]:
    """A node's extent with the parentheses around just it."""
    pairs = own(source, node)
    return (pairs[-1][0], pairs[-1][1] + 1) if pairs else source.extent(node)


def editable(source: Source, node: ast.AST) -> None:
    """Decline where an expression's text is not simply code."""
    found: ast.AST | None = node
    while found is not None and not isinstance(found, ast.stmt):
        if found is not node and isinstance(found, ast.JoinedStr):
            raise Declined("it is inside an f-string")
        if isinstance(found, ast.pattern):
            raise Declined("it is part of a pattern")
        found = source.parent(found)


def _belongs_to(source: Source, holder: ast.AST | None, node: ast.AST, end: int) -> bool:
    """Whether the parenthesis that ends there is part of the holder's own syntax."""
    match holder:
        case ast.Call(args=args) if node in args:
            return source.extent(holder)[1] == end
        case ast.ClassDef(bases=bases):
            return node in bases
    return False
