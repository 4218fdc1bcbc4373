"""Indices, masks and counts in the text of an edit: what has no gradient, whatever it is computed from."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any

from autofix.syntax.calls import name_of, path_of
from autofix.syntax.modes import switches_off
from autofix.syntax.vocabulary import CHOOSES, WITHOUT_DERIVATIVE

OF_TORCH = ("torch", "F")


def without_indices(statements: Iterable[ast.stmt]) -> str:
    """The text of some statements in which a 0 stands for each expression that gives indices, a mask or a count.

    A context that switches gradients off for such expressions alone is left out.
    """
    module = ast.Module([copy.deepcopy(one) for one in statements], [])
    return ast.unparse(ast.fix_missing_locations(_WithoutIndices().visit(module)))


def gives_indices(node: ast.expr) -> bool:
    """Whether an expression gives indices, a mask or a count, none of which has a gradient."""
    match node:
        case ast.Compare():
            return True
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in WITHOUT_DERIVATIVE:
            # What the user's own objects do with a tensor by such a name is not known.
            own = path_of(value) not in ("", *OF_TORCH)
            return not own or all(isinstance(one, ast.Constant) for one in args)
        case (
            ast.Subscript(value=ast.Call() as call, slice=ast.Constant(1))
            | ast.Attribute(value=ast.Call() as call, attr="indices")
        ):
            return isinstance(call.func, ast.Attribute) and name_of(call) in CHOOSES
    return False


def _binds_indices(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign([ast.Tuple([ast.Name("_"), _])], ast.Call(func=ast.Attribute()) as call):
            return name_of(call) in CHOOSES
        case ast.Assign(value=value):
            return gives_indices(value)
    return False


def _is_off_for_indices(block: ast.With) -> bool:
    alone = len(block.items) == 1 and switches_off(block.items[0].context_expr)
    return alone and all(map(_binds_indices, block.body))


class _WithoutIndices(ast.NodeTransformer):
    """Puts a 0 in the place of each such expression."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and gives_indices(node):
            return ast.Constant(0)
        if isinstance(node, ast.With) and _is_off_for_indices(node):
            return [*map(self.visit, node.body)]
        if isinstance(node, ast.Assign) and _binds_indices(node):
            node.value = ast.Constant(0)
        return self.generic_visit(node)
