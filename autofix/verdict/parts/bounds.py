"""What keeps values in a range, as text that is the same however it is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.syntax.calls import name_of, path_of

_LIBRARIES = {"np", "numpy", "torch"}
_SIDES = {"maximum": "min", "fmax": "min", "minimum": "max", "fmin": "max"}
"""What takes one of two values, and which bound a number among them is."""
_WITHIN = {"clamp": ("min", "max"), "clip": ("min", "max"), "clamp_min": ("min",), "clamp_max": ("max",)}
_WRAPS = {"tensor", "as_tensor", "array", "float32", "float64"}


def bounds(node: ast.AST) -> Iterator[str]:
    """The range in which a call keeps values, if numbers bound it: `np.maximum(x, 1)` does as `x.clamp(min=1)`."""
    if isinstance(node, ast.Call) and (found := _found(node, name_of(node).rstrip("_"))):
        yield f"kept {sorted(found.items())}"


def _found(call: ast.Call, name: str) -> dict[str, float]:
    if name in _SIDES:
        numbers = [number for one in call.args if (number := _number(one)) is not None]
        return {_SIDES[name]: numbers[0]} if len(numbers) == 1 else {}
    given = call.args[path_of(call.func).split(".")[0] in _LIBRARIES :]
    words = {(word.arg or "").removeprefix("a_"): word.value for word in call.keywords}
    named = dict(zip(_WITHIN.get(name, ()), given, strict=False)) | (words if name in _WITHIN else {})
    told = {side: _number(one) for side, one in named.items() if ast.unparse(one) != "None"}
    found = {side: number for side, number in told.items() if number is not None}
    return found if len(found) == len(told) else {}


def _number(node: ast.expr) -> float | None:
    """The number that an expression is, also as a tensor or with a sign."""
    match node:
        case ast.Constant(int() | float() as number):
            return float(number)
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
            return -float(number)
        case ast.Call(_, [inner]) if name_of(node) in _WRAPS:
            return _number(inner)
    return None
