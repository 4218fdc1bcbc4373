"""What is filled in where a mask says so, as text that is the same however it is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.verdict.parts.bare import plain

_MADE = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}
"""What makes a tensor of one value, and that value."""
_GIVEN = {"tensor": 0, "new_tensor": 0, "full": 1, "full_like": 1, "new_full": 1}
"""What makes a tensor of the value that it is given, and the place of that."""
_SHAPED = {"unsqueeze", "view", "reshape", "expand", "expand_as", "bool", "float", "to", "type_as"}
"""Methods that leave a mask what it says."""


def fills(node: ast.AST) -> set[str]:
    """Mask, value and what is filled: the same of `x[mask] = 0`, `where(mask, zeros(()), x)` and `x * ~mask`.

    And the value alone of what is made of it: `zeros_like(x)` may stand for that write, and takes no value of `x`.
    """
    masked = {f"{_mask(mask)} {_value(value)} {plain(base)}" for mask, value, base in _filled(node)}
    match node:
        case ast.Assign([ast.Subscript()], value) | (ast.Call(ast.Attribute(attr="zeros_like" | "ones_like")) as value):
            masked.add(f"made of {_value(value)}")
    return masked


def _filled(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    match node:
        case ast.Assign([ast.Subscript(base, mask)], value):
            yield mask, value, base
            match value:
                case ast.Subscript(other, again) if ast.dump(again) == ast.dump(mask):
                    yield mask, other, base
        case ast.AugAssign(ast.Subscript(base, mask), op, value):
            yield mask, ast.BinOp(base, op, value), base
        case ast.Call(ast.Attribute(base, "masked_fill" | "masked_fill_"), [mask, value]):
            yield mask, value, base
        case ast.Call(ast.Attribute(attr="where"), [mask, value, base]):
            yield mask, value, base
            yield _other_way(mask), base, value
        case ast.BinOp(one, ast.Mult(), other):
            yield _other_way(one), ast.Constant(0), other
            yield _other_way(other), ast.Constant(0), one


def _other_way(mask: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Invert(), mask)


def _mask(node: ast.expr, *, turned: bool = False) -> str:
    """A mask but for its shape and type."""
    match node:
        case ast.UnaryOp(ast.Invert(), inner) | ast.BinOp(ast.Constant(1), ast.Sub(), inner):
            return _mask(inner, turned=not turned)
        case ast.Subscript(inner, index) if _shapes(index):
            return _mask(inner, turned=turned)
        case ast.Call(ast.Attribute(inner, name)) if name in _SHAPED:
            return _mask(inner, turned=turned)
    return ("not " if turned else "") + plain(node)


def _shapes(index: ast.expr) -> bool:
    """Whether an index only says where there are new dimensions."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(ast.unparse(one) in (":", "...", "None") for one in parts)


def _value(node: ast.expr) -> str:
    match node:
        case ast.Call(ast.Attribute(attr=name)) if name in _MADE:
            return plain(ast.Constant(_MADE[name]))
        case ast.Call(ast.Attribute(attr=name), args) if name in _GIVEN and len(args) > _GIVEN[name]:
            return plain(args[_GIVEN[name]])
    return plain(node)
