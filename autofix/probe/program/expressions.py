"""What the plain expressions of a user's statement stand for in its frame."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..wire import Frame

UNKNOWN = object()
"""The value of an expression that cannot be told."""


def value(node: ast.expr, frame: FrameType) -> Any:
    """What a plain expression stood for in a frame; a marker of its own where that cannot be told."""
    with contextlib.suppress(Exception):
        match node:
            case ast.Name(id=name):
                return frame.f_locals[name] if name in frame.f_locals else frame.f_globals[name]
            case ast.Attribute(value=holder, attr=name):
                return getattr(value(holder, frame), name)
            case ast.Subscript(value=holder, slice=index):
                return value(holder, frame)[value(index, frame)]
            case ast.Constant(value=constant):
                return constant
    return UNKNOWN


@functools.lru_cache(maxsize=8)
def parsed(text: bytes) -> ast.Module | None:
    """A file as a tree; None where it cannot be parsed."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def statements(tree: ast.Module, place: Frame) -> Iterator[ast.stmt]:
    """The statements without a body that hold a place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and holds(node, place):
            yield node


def holds(statement: ast.stmt, place: Frame) -> bool:
    """Whether a place lies within the lines of a statement."""
    return statement.lineno <= place.line and place.end_line <= (statement.end_lineno or statement.lineno)


def is_computed_with(tree: ast.Module, place: Frame) -> bool:
    """Whether the attribute that stands at a place is asked for one of its own, for a part, or reckoned with.

    So None is not: who compares it or hands it on may know what it is.
    """
    for holder in ast.walk(tree):
        match holder:
            case ast.Attribute(value=one) | ast.Subscript(value=one) | ast.AugAssign(target=one):
                found = [one]
            case ast.BinOp(left=left, right=right):
                found = [left, right]
            case _:
                continue
        if any(isinstance(one, ast.Attribute) and is_at(one, place) for one in found):
            return True
    return False


def is_at(node: ast.expr, place: Frame) -> bool:
    """Whether a node is what a place spans."""
    span = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return span == (place.line, place.column, place.end_line, place.end_column)
