"""A write that belongs to a pass alone, to a copy with a name of its own: what the pass found stays as it was."""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections.abc import Iterable, Iterator

from autofix.core.edit import Declined
from autofix.probe.wire import Frame
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits.expressions import replace
from autofix.syntax.edits.local_name import own_names
from autofix.syntax.edits.out_of_place import value_after
from autofix.syntax.edits.statements import insert_before, replace_statement
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source


def own_copy(source: Source, node: ast.AST, stack: Iterable[Frame]) -> list[Step]:
    """The write to a copy that has a name of its own in this pass, and what reads it up to the backward by that name.

    A pass is the body of a loop that finds the value, or the function that finds an attribute. Declines where none is.
    """
    path = writes.written(source, node)
    statement = source.statement(node)
    place = writes.filling(source, node, stack) or statement
    if not path:
        raise Declined("the tensor that it writes to has no name")
    for body in _finding(source, place, path):
        first = next((one for one in body if one in (place, *source.around(place))), None)
        if first is None:
            continue
        inside = list(itertools.takewhile(lambda one: not _goes_back(one), body[body.index(first) + 1 :]))
        read = [one for other in inside for one in names.mentions(other, path)]
        if not any(isinstance(one.ctx, ast.Load) for one in read):
            continue
        known = {getattr(one, "id", getattr(one, "arg", "")) for one in source.walk(source.function(node))}
        start: ast.expr = ast.parse(path, mode="eval").body
        name = next(one for one in own_names(start) if one not in known)
        with contextlib.suppress(Declined):
            if first is statement:
                steps = replace_statement(source, first, [f"{name} = {value_after(source, node)}"])
                return [*steps, *(step for one in read for step in replace(source, one, name))]
        target = writes.written_part(source, node) if first is statement else None
        there = [target] if target is not None else list(names.mentions(first, path))
        steps = insert_before(source, first, [f"{name} = {path}.clone()"])
        return [*steps, *(step for one in (*there, *read) for step in replace(source, one, name))]
    raise Declined(f"no iteration finds {path} and reads it after the write")


def _finding(source: Source, place: ast.stmt, path: str) -> Iterator[list[ast.stmt]]:
    """The bodies around a place that find a variable as it was before them, innermost first."""
    for loop in blocks.loops(source, place):
        stored = (one for one in names.mentions(loop, path) if not isinstance(source.parent(one), ast.AugAssign))
        if any(isinstance(one.ctx, ast.Store) for one in stored):
            return
        yield loop.body
    function = source.function(place)
    if function is not None and "." in path:
        yield function.body


def _goes_back(statement: ast.stmt) -> bool:
    """Whether a statement computes gradients or steps: what stands behind it is of the leaf itself."""
    return any(calls.differentiation(one) or calls.name_of(one) == "step" for one in calls.within(statement))
