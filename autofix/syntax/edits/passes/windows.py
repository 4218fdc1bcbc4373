"""A sum to which several passes of a loop add before each backward, and which no window begins anew."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence

from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits.statements import insert_after
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


def windows(
    crossings: Iterable[Crossing], failed: Sequence[Frame], sources: Sources
) -> Iterator[tuple[list[Step], str, str]]:
    """What puts a sum back to its start behind the steps of a window, which variable it is, and its start.

    Every so many passes of a loop there is a backward and a step; the passes between only add to the sum, which has one
    start, a number, before the loop.
    """
    carriers = dict.fromkeys(carrier for one in crossings if one.by == "failing" for carrier in one.carriers)
    for carrier, (frame, source, node) in itertools.product(carriers, sources.nodes(failed)):
        if carrier.kind == "tensor" and (carrier.file, carrier.function) == (frame.file, frame.function):
            backward = source.statement(node)
            if (start := _start(source, carrier, backward)) is not None:
                done = blocks.after_steps(source, backward)
                behind = blocks.after(blocks.block_of(source, backward), done)
                last = next((one for one in reversed(behind) if carrier.path in names.reads(one)), done)
                yield insert_after(source, last, [f"{carrier.path} = {start}"]), carrier.path, start


def _start(source: Source, carrier: Carrier, backward: ast.stmt) -> str | None:
    """The number that a sum has before the loop in which a window goes backward; None where it is no such sum."""
    loop = next(blocks.loops(source, backward), None)
    around = itertools.takewhile(lambda one: one is not loop, blocks.around(source, backward))
    window = next((one for one in around if isinstance(one, ast.If) and blocks.counts(one.test)), None)
    if loop is None or window is None:
        return None
    if any(carrier.path in names.reads(one) for one in blocks.after(blocks.block_of(source, window), window)):
        return None
    function = source.function(backward)
    reads = (one for one in names.mentions(function or source.tree, carrier.path) if isinstance(one.ctx, ast.Load))
    if any(one.lineno > (loop.end_lineno or 0) for one in reads):
        return None
    bound = [one for one in names.assignments(source, carrier.path) if source.function(one) is function]
    inside, within = ({id(one) for one in ast.walk(part)} for part in (loop, window))
    before = [one for one in bound if id(one) not in inside]
    adding = [one for one in bound if id(one) in inside]
    if len(before) != 1 or not adding or not all(_adds(one, carrier.path) and id(one) not in within for one in adding):
        return None
    value = before[0].value
    return source.segment(value) if isinstance(value, ast.Constant) and type(value.value) in (int, float) else None


def _adds(statement: ast.stmt, path: str) -> bool:
    match statement:
        case ast.AugAssign(op=ast.Add()):
            return True
        case ast.Assign(value=ast.BinOp(left, ast.Add(), right)):
            return path in (calls.path_of(left), calls.path_of(right))
    return False
