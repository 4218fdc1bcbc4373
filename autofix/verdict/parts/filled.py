"""What is filled in where a mask says so, as text that is the same however it is written."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping

from autofix.verdict.parts.bare import plain
from autofix.verdict.parts.rewritten import bound_in, scope_of

_MADE = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}
"""What makes a tensor of one value, and that value."""
_GIVEN = {"tensor": 0, "new_tensor": 0, "full": 1, "full_like": 1, "new_full": 1}
"""What makes a tensor of the value that it is given, and the place of that."""
_MADE_OF = "made of"
_SHAPED = {"unsqueeze", "view", "reshape", "expand", "expand_as", "bool", "float", "to", "type_as"}
"""Methods that leave a mask what it says."""


def fills(node: ast.AST, masks: Mapping[str, ast.expr]) -> set[str]:
    """Mask, value and what is filled: the same of `x[mask] = 0`, `where(mask, zeros(()), x)` and `x * ~mask`.

    And the value alone of what is made of it: `zeros_like(x)` may stand for that write, and takes no value of `x`.
    `masks` are those that have names.
    """
    node = _Named(masks).visit(copy.deepcopy(node)) if masks else node
    masked = {f"{_mask(mask)} {_value(value)} {plain(base)}" for mask, value, base in _filled(node)}
    match node:
        case ast.Assign([ast.Subscript()], value) | (ast.Call(ast.Attribute(attr="zeros_like" | "ones_like")) as value):
            masked.add(f"{_MADE_OF} {_value(value)}")
    return masked


def is_filled_by(write: ast.stmt, masks: Mapping[str, ast.expr], texts: Collection[str]) -> bool:
    """Whether a statement fills in what some others, as such texts, fill in."""
    return any(one in texts for one in fills(write, masks) if not one.startswith(_MADE_OF))


def named_masks(tree: ast.AST, statement: ast.stmt) -> dict[str, ast.expr]:
    """What masks are called in the function of a statement: names that are bound once, each with the mask of a name.

    That name is bound once there, too, or never. So is what a second name stands for.
    """
    scope = scope_of(tree, statement)
    bound, found = bound_in(scope), {}
    for one in ast.walk(scope):
        match one:
            case ast.Assign([ast.Name(name)], value) if bound[name] == 1 and _is_named(value):
                if all(bound[node.id] <= 1 for node in ast.walk(value) if isinstance(node, ast.Name)):
                    found[name] = value
    return found


def _is_named(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) or _mask(value) != plain(value)


class _Named(ast.NodeTransformer):
    """Puts masks in the place of their names."""

    def __init__(self, masks: Mapping[str, ast.expr]) -> None:
        self._masks = masks

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._masks.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


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
        case ast.BinOp(ast.BinOp(mask, ast.Mult(), value), ast.Add(), ast.BinOp(rest, ast.Mult(), base)) if _mask(
            rest
        ) == _mask(_other_way(mask)):
            yield mask, value, base
        case ast.BinOp(mask, ast.Add(), ast.BinOp(rest, ast.Mult(), base)) if _mask(rest) == _mask(_other_way(mask)):
            yield mask, ast.Constant(1), base
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
            return _value(ast.Constant(_MADE[name]))
        case ast.Call(ast.Attribute(attr=name), args) if name in _GIVEN and len(args) > _GIVEN[name]:
            return _value(args[_GIVEN[name]])
        case ast.Constant(int() | float() as number):
            return repr(float(number))
    return plain(node)
