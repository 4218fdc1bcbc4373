"""Loops over the parts of a tensor: what gives the parts, and how they are put together again."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autofix.syntax.calls import path_of
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import PARTS


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over the parts of `base`: which expression gives them, and how they are put together again."""

    statement: ast.For
    element: ast.expr
    base: str
    join: str
    dim: str
    index: str


def loop_over(source: Source, node: ast.AST, name: str) -> Loop | None:
    """The innermost loop around a write whose variable `name` runs over parts of a tensor that has a name."""
    for holder in source.around(node):
        if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if isinstance(holder, ast.For) and (found := _element(holder.target, holder.iter, name)) is not None:
            element, index = found
            base, join, dim = _parts(element)
            return Loop(holder, _base(element), base, join, dim, index) if base else None
    return None


def _element(target: ast.expr, values: ast.expr, name: str) -> tuple[ast.expr, str] | None:
    """What `name` runs over in `for target in values`, and the variable that counts."""
    match target, values:
        case ast.Name(id=one), _ if one == name:
            return values, ""
        case ast.Tuple(elts=[ast.Name(id=index), inner]), ast.Call(func=ast.Name(id="enumerate"), args=[counted]):
            held = _element(inner, counted, name)
            return (held[0], index) if held is not None else None
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=arguments):
            for part, argument in zip(targets, arguments, strict=False):
                if isinstance(part, ast.Name) and part.id == name:
                    return argument, ""
    return None


def _parts(element: ast.expr) -> tuple[str, str, str]:
    """The tensor whose parts an expression gives, the function that joins them, and its argument `dim`."""
    if path_of(element):
        return path_of(element), "stack", ""
    match element:
        case ast.Call(func=ast.Attribute(attr=name), args=arguments, keywords=keywords) if name in PARTS:
            own = path_of(_base(element))
            rest = arguments[1:] if _base(element) in arguments else arguments
            rest = rest if name == "unbind" else rest[1:]
            dims = [*rest[:1], *(keyword.value for keyword in keywords if keyword.arg == "dim")]
            join = "stack" if name == "unbind" else "cat"
            return own, join, f", dim={ast.unparse(dims[0])}" if dims and ast.unparse(dims[0]) != "0" else ""
    return "", "", ""


def _base(element: ast.expr) -> ast.expr:
    """The tensor in `x`, `x.chunk(2)` or `torch.chunk(x, 2)`."""
    match element:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch")), args=[first, *_]):
            return first
        case ast.Call(func=ast.Attribute(value=holder)):
            return holder
    return element
