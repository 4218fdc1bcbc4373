"""A gradient that is None: which expression of the failing statement is a tensor that gets none."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

    from .frames import Frames
    from .wire import Frame


def missing(error: BaseException, frames: Frames, source: bytes) -> list[tuple[str, torch.Tensor]]:
    """(expression, tensor) for each `.grad` that was None: of a result, or of a leaf that asks for none."""
    if not isinstance(error, (TypeError, AttributeError)):
        return []
    last = _last(error.__traceback__, frames)
    if last is None:
        return []
    place = frames.resolve(((last.tb_frame.f_code, last.tb_lasti),))[0]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found = {}
    for owner in _owners(tree, place, last.tb_frame):
        tensor = value(owner, last.tb_frame)
        if isinstance(tensor, torch.Tensor) and _without(tensor):
            found[ast.unparse(owner)] = tensor
    return list(found.items())


def _without(tensor: torch.Tensor) -> bool:
    return not tensor.requires_grad if tensor.is_leaf else not tensor.retains_grad


def _last(traceback: TracebackType | None, frames: Frames) -> TracebackType | None:
    """The user's innermost frame."""
    found = None
    while traceback is not None:
        if frames.owned(traceback.tb_frame.f_code.co_filename):
            found = traceback
        traceback = traceback.tb_next
    return found


def _owners(tree: ast.Module, place: Frame, frame: FrameType) -> Iterator[ast.expr]:
    """The expressions whose gradient the statement at `place` uses, directly or through a variable that is None."""
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or not _holds(statement, place) or hasattr(statement, "body"):
            continue
        names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and value(n, frame) is None}
        yield from _gradients(statement)
        for other in ast.walk(tree):
            if isinstance(other, ast.Assign) and {ast.unparse(target) for target in other.targets} & names:
                yield from _gradients(other.value)


def _gradients(node: ast.AST) -> Iterator[ast.expr]:
    return (part.value for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr == "grad")


def _holds(statement: ast.stmt, place: Frame) -> bool:
    return statement.lineno <= place.line and place.end_line <= (statement.end_lineno or statement.lineno)


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
    return _UNKNOWN


_UNKNOWN = object()
