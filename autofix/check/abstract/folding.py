"""What operators and comparisons give where both sides are known."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from autofix.check.abstract.player import NotYet
from autofix.check.abstract.values import Const, Listed, Mapped, Opaque, Plain, Value

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def compared(kind: ast.cmpop, first: Any, second: Any) -> Value:
    """The value of a comparison of two constants."""
    compare = _COMPARISONS.get(type(kind))
    try:
        return Const(bool(compare(first, second))) if compare is not None else Plain()
    except TypeError:
        return Plain()


def computed(kind: ast.operator, first: Any, second: Any) -> Value:
    """The value of an operator between two numbers, or of two texts that are joined."""
    compute = _ARITHMETIC.get(type(kind))
    simple = (int, float)
    texts = isinstance(first, str) and isinstance(second, str) and isinstance(kind, ast.Add)
    if compute is None or not (texts or (isinstance(first, simple) and isinstance(second, simple))):
        return Plain()
    try:
        return Const(compute(first, second))
    except (ArithmeticError, ValueError):
        return Plain()


def identity(left: Value, right: Value, *, positive: bool) -> Value:
    """The value of `is`, or of `is not`."""
    none = [isinstance(one, NotYet) or (isinstance(one, Const) and one.value is None) for one in (left, right)]
    if any(isinstance(one, Opaque) and not isinstance(one, NotYet) for one in (left, right)):
        return Plain()
    if any(none):
        other = left if none[1] else right
        if isinstance(other, Plain):
            return Const(not positive)
        return Const(all(none) is positive)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const((left.value is right.value) is positive)
    return Plain()


def membership(left: Value, right: Value, *, positive: bool) -> Value:
    """The value of `in`, or of `not in`."""
    if not isinstance(left, Const):
        return Plain()
    if isinstance(left.value, str) and isinstance(right, Const) and isinstance(right.value, str):
        return Const((left.value in right.value) is positive)
    if isinstance(right, Mapped):
        if left.value in right.items:
            return Const(positive)
        return Const(not positive) if right.exact else Plain()
    if isinstance(right, Listed) and right.exact and all(isinstance(one, Const) for one in right.items):
        return Const((left.value in [one.value for one in right.items if isinstance(one, Const)]) is positive)
    return Plain()
