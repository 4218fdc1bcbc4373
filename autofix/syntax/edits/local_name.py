"""What a pass makes of a value that it finds somewhere, under a name of its own: the value itself stays there."""

from __future__ import annotations

import ast
import itertools
import keyword
from collections.abc import Iterable, Iterator, Sequence

from autofix.core.edit import Declined
from autofix.probe.wire import Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits.expressions import replace
from autofix.syntax.edits.statements import insert_before
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

_EMPTY = ("zeros", "ones", "empty", "full", "new_", "zero", "init")
"""How a call begins that gives a state its start."""


def in_local_name(source: Source, statement: ast.stmt, failed: Iterable[Frame]) -> list[Step]:
    """The steps by which a pass no longer overwrites what `statement` makes anew of the value that it finds.

    A pass is the body of the loop in which one of `failed` stands too, or else the whole function. What is read and
    written in it gets a name of its own, which begins with the value found. Declines where the value is no input: where
    something else puts zeros or None in its place, the pass writes a part of it, or it is a name of the function.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not _is_path(statement.targets[0]):
        raise Declined("the statement does not assign one value to one name")
    path = ast.unparse(statement.targets[0])
    body = _pass(source, statement, failed)
    if body is None and path.isidentifier():
        raise Declined("no loop repeats it, and only its own function sees it")
    function = source.function(statement)
    whole = body if body is not None else function.body if function is not None else []
    mentions = [node for one in whole for node in names.mentions(one, path)]
    first = next((one for one in whole if any(names.mentions(one, path))), None)
    if first is None or not any(isinstance(node.ctx, ast.Load) for node in names.mentions(first, path)):
        raise Declined("the iteration does not read it before it writes it")
    if any(
        isinstance(source.parent(node), ast.AugAssign | ast.Subscript | ast.Delete)
        for node in mentions
        if _stored(source, node)
    ):
        raise Declined("the iteration changes it in place")
    if starts_empty(source, path):
        raise Declined("it starts as zeros or None: it is a state, which iterations hand on")
    known = {getattr(node, "id", getattr(node, "arg", "")) for node in source.walk(function)}
    name = next(one for one in own_names(statement.targets[0]) if one not in known)
    steps = insert_before(source, first, [f"{name} = {source.segment(statement.targets[0])}"])
    return [*steps, *(step for node in mentions for step in replace(source, node, name))]


def _pass(source: Source, statement: ast.stmt, failed: Iterable[Frame]) -> Sequence[ast.stmt] | None:
    """The body of the innermost loop around a statement in which one of these frames stands, too."""
    stack = list(failed)
    loops = (
        one for one in blocks.loops(source, statement) if any(blocks.passed(source, inner, stack) for inner in one.body)
    )
    found = next(loops, None)
    return None if found is None else found.body


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _stored(source: Source, node: ast.expr) -> bool:
    """Whether something is written there, or into it."""
    holder = source.parent(node)
    inside = isinstance(holder, ast.Subscript) and holder.value is node and not isinstance(holder.ctx, ast.Load)
    return inside or not isinstance(getattr(node, "ctx", None), ast.Load)


def starts_empty(source: Source, path: str) -> bool:
    """Whether a variable, an attribute or a buffer is somewhere given None, a number, or numbers that are all alike."""
    values = [one.value for one in names.assignments(source, path) if one.value is not None]
    for node in source.mentioning("register_buffer"):
        match node:
            case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=name), value, *_]):
                values += [value] * (path.rpartition(".")[2] == name)
    return any(map(is_empty, values))


def is_empty(value: ast.expr | None) -> bool:
    """Whether a value is None, a number, or numbers that are all alike."""
    called = calls.name_of(value) if isinstance(value, ast.Call) else ""
    return isinstance(value, ast.Constant) or called.startswith(_EMPTY)


def own_names(target: ast.expr) -> Iterator[str]:
    """Names for what is bound by `target`, the shortest first."""
    match target:
        case ast.Subscript(slice=ast.Constant(value=str(key))) if key.isidentifier() and not keyword.iskeyword(key):
            name = key
        case ast.Attribute(attr=name):
            pass
        case ast.Name(id=name):
            name += "_now"
        case _:
            name = "value"
    yield from (name + more for more in itertools.accumulate(itertools.repeat("_"), initial=""))
