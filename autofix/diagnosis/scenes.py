"""Where in one function a forward, a write that spoils it, and the backward stand, read off their three stacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autofix.probe.wire import Frame, Stack
from autofix.syntax import blocks, calls, names
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

Place = tuple[list[ast.stmt], ast.stmt]


@dataclass(frozen=True, slots=True)
class Scene:
    """Where, in one function, a forward, the step that spoils it, and the backward stand.

    `step` and `backward` are statements of one block; `before` leads from `made` to `step` through the blocks between.
    Where a loop makes the forward and steps behind it, the loop is the `step`, and `before` stands in its body.
    """

    source: Source
    made: ast.stmt
    step: ast.stmt
    backward: ast.stmt
    call: ast.AST
    block: list[ast.stmt]
    before: tuple[ast.stmt, ...]
    upstream: tuple[ast.stmt, ...]

    @property
    def after(self) -> list[ast.stmt]:
        """The statements from behind the step to the backward."""
        return self.block[self.block.index(self.step) + 1 : self.block.index(self.backward) + 1]

    @property
    def forward(self) -> list[ast.stmt]:
        """The statement that made it, and those before the step that hang on it."""
        return names.forward(self.made, self.before[1:])

    @property
    def end(self) -> ast.stmt:
        """The last statement of the update that the backward belongs to."""
        return blocks.end_of_update(self.block, self.backward)

    def done_before(self) -> bool:
        """Whether the same loss went backward before the write too: the second time is meant for the new parameters."""
        loss = calls.path_of(calls.started(self.call))
        done = False
        for statement in blocks.before(self.block, self.backward):
            if not self.source.spells(statement, loss):
                continue
            if names.meets({loss}, names.binds(statement)):
                done = False
            inside = (one for one in ast.walk(statement) if isinstance(one, ast.stmt))
            done = done or any(calls.method(one) == "backward" and loss in names.reads(one) for one in inside)
        return done and bool(loss)


@dataclass(frozen=True, slots=True)
class Turn:
    """A step and a backward that it spoils, in one block; with `loop`, the step stands behind in the body of it."""

    source: Source
    block: list[ast.stmt]
    step: ast.stmt
    backward: ast.stmt
    call: ast.AST
    loop: ast.For | ast.AsyncFor | None


def turn(sources: Sources, written: Stack, failed: Stack) -> Turn | None:
    """The block in which a step and the backward part, wherever the forward was."""
    found = _chains(sources, written, failed)
    if found is None:
        return None
    source, (step, backward), call = found
    common = _fork(step, backward)
    if common is not None:
        return Turn(source, *common, call, None)
    common = _fork(backward, step)
    loop = source.parent(common[1]) if common is not None else None
    if common is None or not isinstance(loop, (ast.For, ast.AsyncFor)) or loop.body is not common[0] or loop.orelse:
        return None
    return Turn(source, common[0], common[2], common[1], call, loop)


def scene(sources: Sources, made: Stack, written: Stack, failed: Stack) -> Scene | None:
    """The place where the three stacks part, if it is one function and in this order."""
    found = _chains(sources, made, written, failed)
    if found is None:
        return None
    source, (forward, step, backward), call = found
    common = _fork(step, backward)
    if common is None:
        return None
    block, first, second = common
    around = step[next(at for at, place in enumerate(step) if place[1] is first) :]
    if any(place[1] is first for place in forward):
        around = step
    start = _fork(forward, around)
    if start is None:
        return None
    opening, made_there, way = start
    before = opening[opening.index(made_there) : opening.index(way)]
    for one, statement in reversed(around[: next(at for at, place in enumerate(around) if place[1] is way)]):
        before += one[: one.index(statement)]
    upstream = opening[: opening.index(made_there)]
    return Scene(source, made_there, first, second, call, block, tuple(before), tuple(upstream))


def _chains(sources: Sources, *stacks: Stack) -> tuple[Source, list[list[Place]], ast.AST] | None:
    """The statements around the frames where the stacks part, and the node of the last of them."""
    frames = parting(*stacks)
    source = sources.source(frames[0].file) if frames else None
    nodes = [node for node in map(sources.node, frames) if node is not None]
    if source is None or len(nodes) < len(stacks):
        return None
    return source, [list(_around(source, node)) for node in nodes], nodes[-1]


def parting(*stacks: Stack) -> tuple[Frame, ...]:
    """The outermost frames that are not the same in all stacks; nothing where they are in different functions."""
    for frames in zip(*(reversed(stack) for stack in stacks), strict=False):
        if len(set(frames)) > 1:
            return frames if len({(frame.file, frame.function) for frame in frames}) == 1 else ()
    return ()


def _around(source: Source, node: ast.AST) -> Iterator[Place]:
    """The statements around a node in its function with their blocks, innermost first."""
    holders = () if isinstance(node, ast.Lambda) else (node, *blocks.around(source, node))
    return ((blocks.block_of(source, one), one) for one in holders if isinstance(one, ast.stmt))


def _fork(one: Sequence[Place], other: Sequence[Place]) -> tuple[list[ast.stmt], ast.stmt, ast.stmt] | None:
    """The innermost block with both, and what holds each there, if it is in this order."""
    for block, first in one:
        for same, second in other:
            if same is block and first is not second:
                return (block, first, second) if block.index(first) < block.index(second) else None
    return None


def closure(source: Source, statement: ast.stmt, failed: Stack) -> ast.FunctionDef | None:
    """The function without arguments, an optimizer's closure, in which the failing call was made."""
    scope = source.function(statement)
    for node in blocks.standing(source, scope, failed):
        if isinstance(node, ast.FunctionDef) and node is not scope and blocks.passed(source, node, failed):
            arguments = any(isinstance(one, ast.arg) for one in ast.walk(node.args))
            return node if source.function(node) is scope and not arguments else None
    return None


def loops(source: Source, frame: Frame, statement: ast.stmt, failed: Stack) -> Iterator[ast.For | ast.While]:
    """The loop after a statement in which its function made the failing call; where none stands beside it, all."""
    stack = [one for one in failed if one.function == frame.function]
    scope = source.function(statement)
    around = [
        one for one in blocks.standing(source, scope, stack)
        if isinstance(one, (ast.For, ast.While)) and one.lineno > statement.lineno and source.function(one) is scope
        and blocks.passed(source, one, stack)
    ]  # fmt: skip
    beside = [one for one in around if one in blocks.block_of(source, statement)]
    yield from beside[:1] or around
