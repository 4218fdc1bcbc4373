"""A gradient that is None: which expression of the failing statement is a tensor that gets none."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch

from ..engine import graph
from ..program.expressions import UNKNOWN, holds, parsed, statements, value
from ..program.frames import Frames
from ..wire import Frame


def missing(error: BaseException, frames: Frames, read: Callable[[str], bytes]) -> list[tuple[str, torch.Tensor]]:
    """(expression, tensor) for each `.grad` that was None: of a result, or of a leaf that asks for none.

    Where a function was given the None, its caller's statement is asked.
    """
    if not isinstance(error, (TypeError, AttributeError)):
        return []
    for last in reversed(frames.own(error.__traceback__)):
        place = frames.resolve(((last.tb_frame.f_code, last.tb_lasti),))[0]
        tree = parsed(read(last.tb_frame.f_code.co_filename))
        if tree is None:
            return []
        found = {}
        for owner in _owners(tree, place, last.tb_frame):
            tensor = value(owner, last.tb_frame)
            if isinstance(tensor, torch.Tensor) and _without(tensor):
                found[ast.unparse(owner)] = tensor
        if found or not _given_none(last.tb_frame, frames):
            return list(found.items())
    return []


def empty(error: BaseException, frames: Frames, read: Callable[[str], bytes]) -> list[tuple[Frame, Any]]:
    """(place, tensor): where gradients that are still None are used as tensors, in the failing statement and beside it.

    Only of leaves that ask for a gradient: no backward has reached them yet. The place is that of the `.grad` itself.
    """
    users = frames.own(error.__traceback__) if isinstance(error, (TypeError, AttributeError)) else []
    if not users:
        return []
    frame = users[-1].tb_frame
    place = frames.resolve(((frame.f_code, users[-1].tb_lasti),))[0]
    tree = parsed(read(frame.f_code.co_filename))
    if tree is None:
        return []
    for block in (b for node in ast.walk(tree) for b in vars(node).values() if isinstance(b, list)):
        statements = [one for one in block if isinstance(one, ast.stmt) and not hasattr(one, "body")]
        if failing := [one for one in statements if holds(one, place)]:
            used = [part for one in failing for part in _used(one)]
            if not any(_is_empty(value(part.value, frame)) for part in used):
                return []
            return [
                (Frame.around(place.file, part, place.function), value(part.value, frame))
                for one in statements
                for part in _used(one)
            ]
    return []


def _used(statement: ast.stmt) -> list[ast.Attribute]:
    """The gradients that a statement uses as tensors: adds to, calls a method of, computes with."""
    return [part for part in ast.walk(statement) if isinstance(part, ast.Attribute) and _uses(statement, part)]


def _uses(statement: ast.stmt, part: ast.Attribute) -> bool:
    if part.attr != "grad":
        return False
    return isinstance(statement, ast.AugAssign) or isinstance(part.ctx, ast.Load)


def _is_empty(tensor: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and graph.is_leaf(tensor) and tensor.requires_grad and tensor.grad is None


def _given_none(frame: FrameType, frames: Frames) -> bool:
    """Whether an argument of the function is None."""
    return any(frame.f_locals.get(name, UNKNOWN) is None for name in _arguments(frames.code(frame)))


def _arguments(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _without(tensor: torch.Tensor) -> bool:
    return not tensor.requires_grad if graph.is_leaf(tensor) else not tensor.retains_grad


def _owners(tree: ast.Module, place: Frame, frame: FrameType) -> Iterator[ast.expr]:
    """The expressions whose gradient the statement at `place` uses, directly or through a variable that is None."""
    for statement in statements(tree, place):
        names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and value(n, frame) is None}
        yield from _gradients(statement)
        for other in ast.walk(tree):
            if isinstance(other, ast.Assign) and names & {n.id for n in _names(other.targets)}:
                yield from _gradients(other.value)


def _names(targets: list[ast.expr]) -> Iterator[ast.Name]:
    """The variables that an assignment binds, tuples opened."""
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from _names(target.elts)
        elif isinstance(target, ast.Name):
            yield target


def _gradients(node: ast.AST) -> Iterator[ast.expr]:
    return (part.value for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr == "grad")
