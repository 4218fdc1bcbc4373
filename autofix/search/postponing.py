"""Updates that helpers make too early: all those that spoil a later backward, to be called behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.core.model import Diagnosis
from autofix.diagnosis import scenes
from autofix.probe.wire import Frame, Write
from autofix.search import owning
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, delete, insert_after, insert_before
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


def early(diagnosis: Diagnosis) -> dict[tuple[Frame, Frame], Write]:
    """The calls of helpers that stepped before the failing backward, and the failing one, in the function of both."""
    found: dict[tuple[Frame, Frame], Write] = {}
    for saved in (*diagnosis.trace.saved, *diagnosis.trace.also):
        for write in saved.writes if diagnosis.failure.stack else ():
            frames = scenes.parting(write.stack, diagnosis.failure.stack) if write.optimizer >= 0 else ()
            if frames and frames[0] != write.stack[0]:
                found.setdefault((frames[0], frames[1]), write)
    return found


def updates(diagnosis: Diagnosis, sources: Sources) -> Iterator[list[Step]]:
    """Each of these calls behind the failing one, under the conditions that it stands under; gradients cleared first.

    What the failing backward leaves in the parameters of others is cleared before their own, where their helper does
    not do so; without that, too.
    """
    places = early(diagnosis)
    ends = list(sources.nodes({end for _, end in places}))
    if len(ends) != 1:
        return
    _, source, node = ends[0]
    later = source.statement(node)
    found = {_whole(source, one): write for (at, _), write in places.items() for _, _, one in sources.nodes([at])}
    in_order = sorted(found, key=lambda one: one.lineno)
    moved = [step for one in in_order for step in delete(source, one)]
    lines = [line for one in in_order for line in _with_conditions(source, one, later)]
    moved += insert_after(source, blocks.end_of_update(blocks.block_of(source, later), later), lines)
    clearing = list(dict.fromkeys(step for write in found.values() for step in _cleared(write, sources)))
    if clearing:
        yield [*clearing, *moved]
    yield moved


def _whole(source: Source, node: ast.AST) -> ast.stmt:
    """The statement that makes an update, with a condition that is for nothing else."""
    found = source.statement(node)
    if not isinstance(found, ast.Expr):
        raise Declined("what the earlier update gives is used")
    while isinstance(holder := source.parent(found), ast.If) and holder.body == [found] and not holder.orelse:
        found = holder
    return found


def _with_conditions(source: Source, statement: ast.stmt, later: ast.stmt) -> list[str]:
    """The lines of a statement that is to stand in the block of a later one: with the conditions between them."""
    block = blocks.block_of(source, later)
    lines = names.copied(source, statement)
    holder: ast.AST | None = statement
    while holder not in block:
        inside, holder = holder, source.parent(holder) if holder is not None else None
        if not isinstance(holder, ast.If) or inside not in holder.body:
            raise Declined("the earlier update stands in a loop, or where something else is not")
        lines = [f"if {source.segment(holder.test)}:", *(f"    {line}" for line in lines)]
    if block.index(holder) > block.index(later):
        raise Declined("the update comes later in the code")
    return lines


def _cleared(write: Write, sources: Sources) -> list[Step]:
    """The gradients of a helper's optimizer cleared before its backward, where it goes backward and does not do so."""
    for _, source, node in sources.nodes(write.stack[:1]):
        step = source.statement(node)
        optimizer, function = owning.stepped(step), source.function(step)
        block = blocks.block_of(source, step)
        backward = [one for one in blocks.before(block, step) if calls.method(one) == "backward"]
        if optimizer is None or function is None or not backward:
            continue
        if not any(calls.name_of(one) == "zero_grad" for one in calls.within(function)):
            return insert_before(source, backward[0], [f"{source.segment(optimizer)}.zero_grad()"])
    return []
