"""A None in place of a gradient, used as a tensor: which derivative gave it, or where it was read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any

from ..program.expressions import is_at, parsed, value
from ..program.frames import Frames
from ..wire import Frame, Stack

_WITHIN = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


def reads_gradient(stack: Stack, read: Callable[[str], bytes]) -> str:
    """The tensor whose gradient the user's own code reads at a place, as it calls it; '' where what it calls does."""
    tree = parsed(read(stack[0].file)) if stack else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Attribute) and node.attr == "grad" and is_at(node, stack[0]):
            return ast.unparse(node.value)
    return ""


def giver(error: BaseException, frames: Frames, read: Callable[[str], bytes], stacks: list[Stack]) -> Stack:
    """Of the places that gave a None, the latest whose result the failing statement uses; () where none is.

    Where a function was given what fails in it, its caller's statement is asked.
    """
    if not isinstance(error, (TypeError, AttributeError)):
        return ()
    for number, last in enumerate(reversed(frames.own(error.__traceback__))):
        place = frames.resolve(((last.tb_frame.f_code, last.tb_lasti),))[0]
        tree = parsed(read(last.tb_frame.f_code.co_filename))
        if tree is None:
            return ()
        used = [node for part in _at(tree, place) for node in ast.walk(part)]
        for stack in reversed(stacks):
            calls = [frame for frame in stack if frame.file == place.file]
            if any(_holds(one, frame) for one in _at(tree, place) for frame in calls):
                return stack
            if _absent(used, _given(tree, calls), None if number else last.tb_frame):
                return stack
        if not (place.function.endswith(_WITHIN) or number or _handed(tree, used, last)):
            return ()
    return ()


def _at(tree: ast.Module, place: Frame) -> Iterator[ast.AST]:
    """The statements without a body that hold a place; of one with a body, the expressions of its header."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            bodies = any(hasattr(node, name) for name in ("body", "cases"))
            parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)] if bodies else [node]
            yield from (part for part in parts if _holds(part, place))


def _holds(node: ast.AST, place: Frame) -> bool:
    start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    end = getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
    return start <= (place.line, place.column) and (place.end_line, place.end_column) <= end


def _given(tree: ast.Module, calls: Iterable[Frame], names: Iterable[str] = ()) -> set[str]:
    """The variables of a file that hold what calls gave, or what some names do, or a part of it."""
    bound = list(_bindings(tree))
    found = set(names)
    for targets, node in bound:
        if any(_holds(node, frame) for frame in calls):
            found |= targets
    grows = True
    while grows:
        more = {name for targets, node in bound if found & set(_paths(node)) for name in targets}
        grows, found = not more <= found, found | more
    return found


def _bindings(tree: ast.Module) -> Iterator[tuple[set[str], ast.AST]]:
    """What is bound or filled, by paths, and from which expression."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=given):
                yield {path for one in targets for path in _paths(one)}, given
            case ast.AnnAssign(target=target, value=ast.expr() as given) | ast.NamedExpr(target=target, value=given):
                yield set(_paths(target)), given
            case ast.For(target=target, iter=given) | ast.comprehension(target=target, iter=given):
                yield set(_paths(target)), given
            case ast.Call(func=ast.Attribute(value=holder, attr="append" | "extend"), args=[given]):
                yield set(_paths(holder)), given


def _paths(node: ast.AST) -> Iterator[str]:
    """The names, and attributes of names, in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) or (isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)):
            yield ast.unparse(part)


def _absent(used: list[ast.AST], given: set[str], frame: FrameType | None) -> bool:
    """Whether an expression that a statement uses is, or is a part of, what was given, and is or has a None."""
    for node in used:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            held: ast.expr = node
            while isinstance(held, ast.Subscript):
                held = held.value
            if ast.unparse(held) in given and (frame is None or _lacks(value(node, frame))):
                return True
    return False


def _lacks(found: Any) -> bool:
    """Whether a value is None, or holds one."""
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, (list, tuple)) else (found,)
    return any(one is None for one in parts)


def _handed(tree: ast.Module, used: list[ast.AST], last: TracebackType) -> bool:
    """Whether what is None there came into the function as an argument, or as a part of one."""
    code = last.tb_frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04)]
    return _absent(used, _given(tree, (), names), last.tb_frame)
