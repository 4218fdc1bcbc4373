"""Tensors made of lists of tensors and numbers, nested or not, stacked of them instead, so that graphs are kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.syntax.edits import Step, remove_keyword, rename, replace
from autofix.syntax.names import assignments, fills
from autofix.syntax.source import Source

MAKE = ("tensor", "as_tensor", "FloatTensor", "Tensor")
"""What makes a tensor of values."""
_NOT_OF_STACK = ("requires_grad", "dtype", "device")
_LIKE = {"0": "zeros_like", "1": "ones_like"}


def of_tensors(source: Source, call: ast.AST) -> Iterator[list[Step]]:
    """The ways to make a tensor of tensors, and not of their numbers, where a call such as `torch.tensor(values)` does.

    `torch.tensor([[a, b], [c, 0]])` is stacked row by row, where the rows stand or where the list is filled; a single
    tensor is taken as it is.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=module, attr=name), args=[value]) if name in MAKE:
            if isinstance(value, (ast.List, ast.Tuple)):
                if all(_is_number(source, one) for one in _flat(value)):
                    return
                if any(isinstance(one, (ast.List, ast.Tuple)) or _is_number(source, one) for one in value.elts):
                    yield replace(source, call, _stacked(source, value, source.segment(module)))
            filled = fills(source, value.id) if isinstance(value, ast.Name) else ()
            rows = [kept for _, kept in filled if isinstance(kept, (ast.List, ast.Tuple))]
            whole = rename(source, call.func, "stack")  # type: ignore[arg-type]  # as matched
            for word in call.keywords:
                whole += remove_keyword(source, call, word.arg) if word.arg in _NOT_OF_STACK else []
            if rows:
                texts = ((row, _stacked(source, row, source.segment(module))) for row in rows)
                yield [*whole, *(step for row, text in texts for step in replace(source, row, text))]
            yield whole
            if isinstance(value, ast.Name):
                yield replace(source, call, value.id)


def _stacked(source: Source, listed: ast.List | ast.Tuple, torch: str) -> str:
    """A list display as `torch.stack([…])`, inner ones likewise; a number is made like the first tensor with a name."""
    named = (one for one in _flat(listed) if isinstance(one, (ast.Name, ast.Attribute)) and not _is_number(source, one))
    return _text(source, listed, torch, next((ast.unparse(one) for one in named), ""))


def _text(source: Source, node: ast.expr, torch: str, like: str) -> str:
    if isinstance(node, (ast.List, ast.Tuple)):
        return f"{torch}.stack([{', '.join(_text(source, one, torch, like) for one in node.elts)}])"
    if not _is_number(source, node):
        return source.segment(node)
    if not like:
        return f"{torch}.tensor(float({source.segment(node)}))"
    made = _LIKE.get(ast.unparse(node).removesuffix(".0"))
    return f"{torch}.{made}({like})" if made else f"{torch}.full_like({like}, {source.segment(node)})"


def _flat(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [one for part in node.elts for one in _flat(part)]
    return [node]


def _is_number(source: Source, node: ast.expr) -> bool:
    """Whether an expression is a number as it is written, or a name that is only ever given one."""
    match node:
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(source, operand)
        case ast.Name(id=name):
            given = [one.value for one in assignments(source, name)]
            return bool(given) and all(isinstance(one, ast.Constant) for one in given)
    return False
