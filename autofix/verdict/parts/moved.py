"""Statements that an edit moves: behind others, into a block or out of one."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from autofix.core.aligned import opcodes
from autofix.syntax.calls import name_of
from autofix.syntax.source import BLOCKS
from autofix.syntax.vocabulary import draws
from autofix.verdict.parts.branches import written
from autofix.verdict.parts.statements import Item, flat

_Key = tuple[tuple[object, ...], tuple[object, ...]]
"""What a statement is, and the heads, with the block, of what it stands in and the edit leaves alone."""
_Placed = tuple[_Key, Item]
_DECLARES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass, ast.Global)
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)


class Move(NamedTuple):
    """Statements that stand elsewhere now, side by side as before."""

    old: list[Item]
    new: list[Item]
    place: int | None
    """The line of the new text where they stood; None where nothing that was kept tells it."""
    shift: int
    """By how much the block is indented more in the new text than in the old one."""
    passed: list[list[Item]]
    """What it stands on the other side of now, of the new text, and may do something else for it, too."""
    draws: bool
    """Whether it draws at random, as what it passed does: each then draws other numbers, whatever else they do."""


def moves(ours: list[Item], theirs: list[Item], changed: Collection[int]) -> Iterator[Move]:
    """What moved and may do something else for it; `changed`: the statements that only one text has."""
    old, new = (list(_placed(items, changed, ())) for items in (ours, theirs))
    codes = opcodes([key for key, _ in old], [key for key, _ in new])
    aligned = {a + i: c + i for tag, a, b, c, _ in codes if tag == "equal" for i in range(b - a)}
    twins = _twins(old, new, aligned)
    for i in twins:
        if twins.get(i - 1) == twins[i] - 1:
            continue
        last = next(k for k in range(i, len(old)) if twins.get(k + 1) != twins[k] + 1)
        before, after = old[i : last + 1], new[twins[i] : twins[last] + 1]
        gone, fresh = _outermost(before), _outermost(after)
        place, shift = _place(old, new, aligned, i)
        passed = _passed(theirs, fresh, place) if place is not None and before[0][0] == after[0][0] else None
        others = [one for one in flat(theirs) if passed and one in passed and id(one) not in changed]
        draws = all(any(map(_draws, some)) for some in (fresh, passed or ()))
        if passed is None or draws or not _alone(fresh, passed):
            yield Move(gone, fresh, place, shift, [[one] for one in others if not _alone([one], fresh)], draws)


def _twins(old: list[_Placed], new: list[_Placed], aligned: dict[int, int]) -> dict[int, int]:
    """Where in the new text those statements are that are not in their place, as far as they are the same."""
    free = sorted({*range(len(new))} - {*aligned.values()})
    found: dict[int, int] = {}
    for i in sorted({*range(len(old))} - aligned.keys()):
        j = next((j for j in free if new[j][0][0] == old[i][0][0]), None)
        if j is not None:
            found[i] = j
            free.remove(j)
    return found


def _placed(items: Sequence[Item], changed: Collection[int], heads: tuple[object, ...]) -> Iterator[_Placed]:
    for item in items:
        kept = id(item) not in changed
        if kept and not isinstance(item.node, _DECLARES):
            yield (item.exact, heads), item
        for inner in item.inner:
            head = (*heads, (item.exact, _block(item.node, inner.node))) if kept and item.bare else heads
            yield from _placed([inner], changed, head)


def _block(node: ast.stmt, inner: ast.stmt) -> int:
    """Which of its blocks a statement inside another one stands in."""
    blocks = [getattr(node, name, []) for name in BLOCKS]
    return sum(held[0].lineno <= inner.lineno for held in blocks if held and isinstance(held[0], ast.stmt))


def _place(old: list[_Placed], new: list[_Placed], aligned: dict[int, int], i: int) -> tuple[int | None, int]:
    """Where a statement stood, in the new text: beside the nearest one of its block that was kept in its place."""
    (exact, heads), item = old[i]
    near = [k for k in aligned if old[k][0][1] == heads and old[k][0][0][0] == exact[0]]
    if not near:
        return None, 0
    k = min(near, key=lambda k: item.start - old[k][1].end if k < i else old[k][1].start - item.end)
    there = new[aligned[k]][1]
    return there.end if k < i else there.start, there.node.col_offset - old[k][1].node.col_offset


def _outermost(placed: list[_Placed]) -> list[Item]:
    found: list[Item] = []
    for _, item in placed:
        if not found or item.start >= found[-1].end:
            found.append(item)
    return found


def _passed(theirs: list[Item], moved: list[Item], place: int) -> list[Item] | None:
    """What stands between two places; None where the run may leave the block there."""
    first, last = sorted((place, moved[0].start))
    found = [one for one in flat(theirs) if first <= one.start < last and one not in moved]
    leaves = any(isinstance(node, _LEAVES) for one in found for node in ast.walk(one.node))
    return None if leaves else [one for one in found if not any(one in other.inner for other in found)]


def _alone(items: list[Item], others: list[Item]) -> bool:
    """Whether it is the same before others and behind them: it records numbers, or binds names of its own."""
    nodes = [node for one in others for node in ast.walk(one.node)]
    named, bound = {one.id for one in nodes if isinstance(one, ast.Name)}, {*map(written, nodes)}
    return all(_stands_alone(one.node, named, bound) for one in items)


def _draws(item: Item) -> bool:
    return any(isinstance(one, ast.Call) and draws(name_of(one)) for one in ast.walk(item.node))


def _stands_alone(node: ast.stmt, named: set[str], bound: set[str]) -> bool:
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    own = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    match node:
        case ast.Assign([ast.Name()]) | ast.AugAssign(ast.Name()) | ast.Expr(ast.Call(ast.Name("print"))):
            pass
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"))):
            own = {name}
        case _:
            return False
    return named.isdisjoint(own) and bound.isdisjoint(one.id for one in names)
