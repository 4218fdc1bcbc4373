"""Loops over the parts of a tensor: what gives the parts, and how they are put together again."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from autofix.syntax.calls import path_of
from autofix.syntax.names import unused
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import PARTS
from autofix.syntax.writes import is_module


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over the `parts` of `element`, named `base`, and how they are put together again."""

    statement: ast.For
    parts: ast.expr
    element: ast.expr
    base: str
    join: str
    dim: str
    index: str

    @property
    def alone(self) -> bool:
        """Whether the loop runs over the rows of the tensor and over nothing beside them."""
        header = self.statement.iter
        counted = isinstance(header, ast.Call) and (header.args, header.keywords) == ([self.parts], [])
        return self.join == "stack" and not self.dim and (header is self.parts or counted)


def loop_over(source: Source, node: ast.AST, name: str) -> Loop | None:
    """The innermost loop around a write whose variable `name` runs over parts of a tensor that has a name."""
    for holder in source.around(node):
        if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if isinstance(holder, ast.For) and (found := _element(holder.target, holder.iter, name)) is not None:
            parts, index = found
            base, join, dim = _parts(source, parts)
            return Loop(holder, parts, _base(source, parts), base, join, dim, index) if base else None
    return None


def singly(source: Source, element: ast.expr) -> str:
    """The same parts, each as a view of its own: `[x[i] for i in range(len(x))]` of `x.unbind()`; '' where none is."""
    base, join, dim = _parts(source, element)
    step = _sizes(source, element) if isinstance(element, ast.Call) and join == "cat" else None
    place = dim.removeprefix(", dim=") or "0"
    if not base or (join == "cat" and step is None) or not re.fullmatch(r"-1|[0-3]", place):
        return ""
    index = unused(source, "i", "j", "k", "place")
    before = "..., " if place == "-1" else ":, " * int(place)
    length = f"len({base})" if place == "0" else f"{base}.size({place})"
    if step is None:
        return f"[{base}[{before}{index}] for {index} in range({length})]"
    end = ast.unparse(ast.BinOp(ast.Name(index), ast.Add(), step))
    return f"[{base}[{before}{index}:{end}] for {index} in range(0, {length}, {ast.unparse(step)})]"


def _sizes(source: Source, call: ast.Call) -> ast.expr | None:
    """How long each part is that `split` gives, where all have one length."""
    if path_of(call.func).rpartition(".")[2] != "split":
        return None
    places = call.args[1:] if _base(source, call) in call.args else call.args
    named = [one.value for one in call.keywords if one.arg in ("split_size", "split_size_or_sections")]
    found = next(iter([*places, *named]), None)
    return None if isinstance(found, (ast.List, ast.Tuple, ast.ListComp)) else found


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


def _parts(source: Source, element: ast.expr) -> tuple[str, str, str]:
    """The tensor whose parts an expression gives, the function that joins them, and its argument `dim`."""
    if path_of(element):
        return path_of(element), "stack", ""
    match element:
        case ast.Call(func=ast.Attribute(attr=name), args=arguments, keywords=keywords) if name in PARTS:
            own = path_of(_base(source, element))
            rest = arguments[1:] if _base(source, element) in arguments else arguments
            rest = rest if name == "unbind" else rest[1:]
            dims = [*rest[:1], *(keyword.value for keyword in keywords if keyword.arg == "dim")]
            join = "stack" if name == "unbind" else "cat"
            return own, join, f", dim={ast.unparse(dims[0])}" if dims and ast.unparse(dims[0]) != "0" else ""
    return "", "", ""


def _base(source: Source, element: ast.expr) -> ast.expr:
    """The tensor in `x`, `x.chunk(2)` or `torch.chunk(x, 2)`."""
    match element:
        case ast.Call(func=ast.Attribute(value=holder), args=[first, *_]) if is_module(source, holder):
            return first
        case ast.Call(func=ast.Attribute(value=holder)):
            return holder
    return element
