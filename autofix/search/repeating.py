"""A forward that a step made stale, computed again behind it: which of its statements, and their lines there."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from autofix.diagnosis.scenes import Scene
from autofix.syntax import blocks, names, update
from autofix.syntax.edits import Step, insert_after, insert_before

_DETACH = ".detach()"
_MOST = 2


@dataclass(frozen=True, slots=True)
class Again:
    """Statements that are computed again, and the variables that lose in them their graph, an earlier one."""

    statements: Sequence[ast.stmt]
    cut: Collection[str] = ()
    later: int = 0
    attached: bool = False
    """Whether they are computed without the detaches that they have."""

    def only_adds(self) -> bool:
        """Whether nothing is computed anew but a total, from which something is cut."""
        return bool(self.cut) and all(isinstance(one, ast.Assign) and _is_sum(one.value) for one in self.statements)

    def steps(self, scene: Scene) -> list[Step]:
        """The edits that put them behind the step."""
        lines = [line for one in self.statements for line in _copied(scene, one, self.statements, self.cut)]
        return behind(scene, self.statements, [line.replace(_DETACH, "") for line in lines] if self.attached else lines)


def ways(scene: Scene, *, attached: bool) -> Iterator[Again]:
    """All that leads from the forward to the backward, the last part of it, and more before it.

    Where they have a detach, also without it: first, where an optimizer is left out (`attached`).
    """
    leading = (*scene.upstream, *scene.before, *scene.after[:-1])
    whole = names.backward(names.reads(scene.backward), [one for one in leading if not update.has_no_gradient(one)])
    earlier = [one for one in whole if one not in scene.after]
    late = [one for one in scene.forward if one in earlier or one is scene.made]
    kept = names.leading([*late, *(one for one in whole if one in scene.after)], scene.backward)
    late = [one for one in late if one in kept and not update.trains(one)]
    upstream = [one for one in earlier if one in scene.upstream and update.calls(one) and not update.trains(one)]
    if any(_DETACH in scene.source.segment(one) for one in late):
        yield Again(late, later=-1 if attached else 0, attached=True)
    for at in range(1, len(late[: _MOST + 2])):
        yield from _cut(late[at:], late[:at], 1)
    if late:
        yield Again(late)
    yield from _cut(late, upstream, 3)
    for more in range(1, min(len(upstream), _MOST) + 1):
        yield Again([*upstream[-more:], *late], later=3 + more)


def behind(scene: Scene, made: Sequence[ast.stmt], lines: Sequence[str]) -> list[Step]:
    """Lines that make anew what some statements made, before its first use behind the step, else directly behind that.

    Within the conditions under which the backward is reached: without it nothing is computed again.
    """
    bound = names.bound_by(made)
    anchor = names.first_use(scene.after, bound)
    around = blocks.holders(scene.source, scene.call)
    while isinstance(anchor, ast.If) and any(one in anchor.body for one in around):
        inner = names.first_use(anchor.body, bound)
        if inner is None or names.meets(bound, names.reads(anchor.test) | names.read_by(anchor.orelse)):
            break
        anchor = inner
    return insert_before(scene.source, anchor, lines) if anchor else insert_after(scene.source, scene.step, lines)


def _cut(statements: Sequence[ast.stmt], before: Sequence[ast.stmt], later: int) -> Iterator[Again]:
    """Some statements from what those before them give, cut off its graph; nothing where they take nothing of it."""
    if cut := names.read_by(statements) & names.bound_by(before):
        yield Again(statements, cut, later)


def _copied(scene: Scene, one: ast.stmt, copies: Sequence[ast.stmt], cut: Collection[str]) -> list[str]:
    """The lines of a statement, to be written again; of a condition's branches only what is needed behind the step."""
    lines = names.copied(scene.source, one, cut)
    if not isinstance(one, ast.If) or len(lines) != (one.end_lineno or 0) - one.lineno + 1:
        return lines
    needed = names.read_by([*copies[copies.index(one) + 1 :], *scene.after])
    vain: set[int] = set()
    for branch in filter(None, (one.body, one.orelse)):
        kept = names.backward(needed, branch)
        idle = [other for other in branch if isinstance(other, ast.Assign) and other not in kept]
        alone = all(other.lineno > before.lineno for before, other in itertools.pairwise((one, *branch)))
        if kept and alone:
            vain.update(line for other in idle for line in range(other.lineno, (other.end_lineno or 0) + 1))
    return [line for number, line in enumerate(lines, one.lineno) if number not in vain]


def _is_sum(node: ast.expr) -> bool:
    """Whether an expression only adds what has a name."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_sum(left) and _is_sum(right)
        case ast.BinOp(left=ast.Constant(), op=ast.Mult(), right=one):
            return _is_sum(one)
        case ast.BinOp(left=one, op=ast.Mult() | ast.Div(), right=ast.Constant()):
            return _is_sum(one)
    return isinstance(node, (ast.Name, ast.Attribute))
