"""Which statements leave a block without gradients where of two values that it makes one is the target of the other."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator

from autofix.syntax import blocks, names
from autofix.syntax.edits import Step, ensure_import, move_after, move_before, wrap
from autofix.syntax.source import Source


def but_for_targets(source: Source, block: ast.With) -> Iterator[tuple[str, list[Step]]]:
    """All out of a block but what one of two values needs that are made in it and held against each other.

    Each of them may be the target, first what is given as one, or taken away.
    """
    made = names.bound_by(block.body)
    following = blocks.after(blocks.block_of(source, block), block)
    pairs = (pair for one in (*block.body, *following) for pair in _held(one, made))
    for value, target in itertools.chain.from_iterable((one, one[::-1]) for one in itertools.islice(pairs, 1)):
        needed = names.backward({value}, block.body)
        kept = [one for one in names.backward({target}, block.body) if one not in needed]
        if kept and not names.meets(names.bound_by(kept), names.read_by(needed)):
            yield target, _taken_out(source, block, [one for one in block.body if one not in kept])


def _held(statement: ast.stmt, made: Collection[str]) -> Iterator[tuple[str, str]]:
    """The values of these that a statement holds against each other: in a difference, or given to one call."""
    for node in ast.walk(statement):
        match node:
            case ast.BinOp(left=left, op=ast.Sub(), right=right) | ast.Call(args=[left, right]):
                sides = [names.reads(side).intersection(made) for side in (left, right)]
                if all(len(side) == 1 for side in sides) and sides[0] != sides[1]:
                    yield min(sides[0]), min(sides[1])


def _taken_out(source: Source, block: ast.With, out: list[ast.stmt]) -> list[Step]:
    """Statements moved out of a block, or where they stand between others with gradients on."""
    if len(block.items) == 1 and len(block.body) > len(out):
        if block.body[-len(out) :] == out:
            return move_after(source, out, block)
        if block.body[: len(out)] == out:
            return move_before(source, out, block)
    torch, imports = ensure_import(source, "torch")
    wrapped = (wrap(source, run, f"with {torch}.enable_grad():") for run in blocks.runs(block.body, out))
    return [*imports, *itertools.chain.from_iterable(wrapped)]
