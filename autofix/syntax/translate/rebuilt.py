"""Lists of tensors and numbers, nested or not, as one tensor that is stacked of them and keeps their graphs."""

from __future__ import annotations

import ast

from autofix.syntax.names import assignments
from autofix.syntax.source import Source

_LIKE = {"0": "zeros_like", "1": "ones_like"}


def stacked(source: Source, listed: ast.List | ast.Tuple, torch: str) -> str:
    """A list display as `torch.stack([…])`, inner ones likewise; a number is made like the first tensor with a name."""
    named = (one for one in _flat(listed) if isinstance(one, (ast.Name, ast.Attribute)) and not _is_number(source, one))
    return _text(source, listed, torch, next((ast.unparse(one) for one in named), ""))


def needs_more(source: Source, listed: ast.expr) -> bool:
    """Whether `torch.stack` does not take a list as it is: it has lists or numbers in it."""
    parts = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []
    return any(isinstance(one, (ast.List, ast.Tuple)) or _is_number(source, one) for one in parts)


def of_numbers(source: Source, listed: ast.expr) -> bool:
    """Whether a list display has numbers alone in it, and so nothing with a graph."""
    return isinstance(listed, (ast.List, ast.Tuple)) and all(_is_number(source, one) for one in _flat(listed))


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
