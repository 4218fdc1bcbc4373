"""Edits where something is made of parameters while they are switched off, and trained when they are on again."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from autofix.core.model import Diagnosis
from autofix.diagnosis import scenes
from autofix.probe.wire import Origin
from autofix.search import anew, repeating
from autofix.search.rule import Tier
from autofix.syntax import blocks, calls, names, update
from autofix.syntax.edits import Step, delete, move_before, unwrap
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_FLAGGING = re.compile(r"\.requires_grad( *=|_\()")


def left_on(origin: Origin, _diagnosis: Diagnosis, sources: Sources) -> Sequence[Step]:
    """Without what switches the parameters off: the statement, or the call or context of what does nothing else."""
    for _, source, node in sources.nodes(origin.stack):
        statement, function = source.statement(node), source.function(node)
        while isinstance(loop := source.parent(statement), ast.For) and loop.body == [statement]:
            statement = loop
        if function is None or not _only_flags(function):
            return _without(source, statement, node)
    return ()


def _without(source: Source, statement: ast.stmt, node: ast.AST) -> Sequence[Step]:
    if not hasattr(statement, "body"):
        return delete(source, statement)
    if isinstance(statement, ast.With):
        found = [one for one in statement.items if node in ast.walk(one) or len(statement.items) == 1]
        return unwrap(source, statement, found[0]) if found else ()
    return delete(source, statement) if isinstance(statement, ast.For) else ()


def made_before(origin: Origin, diagnosis: Diagnosis, sources: Sources) -> Sequence[Step]:
    """It before the parameters are switched off."""
    scene = scenes.scene(sources, origin.stack, origin.used, diagnosis.failure.stack)
    if scene is None or blocks.block_of(scene.source, scene.made) is not scene.block or update.trains(scene.step):
        return ()
    if names.bound_by(scene.before) & names.reads(scene.step):
        return ()
    return move_before(scene.source, [scene.step], scene.made)


def made_again(origin: Origin, diagnosis: Diagnosis, sources: Sources) -> Sequence[Step]:
    """It, and what leads from it to the loss, once more when the parameters are on; not where that draws anew."""
    scene = scenes.scene(sources, origin.used, origin.again, diagnosis.failure.stack)
    if scene is None:
        return ()
    leading = names.backward(names.reads(scene.backward), (*scene.before, *scene.after[:-1]))
    made = [one for one in scene.forward if one is scene.made or one in leading]
    if any(map(update.trains, made)) or any(anew.draws(one, scene.source, sources) for one in calls.within(*made)):
        return ()
    lines = [line for one in made for line in names.copied(scene.source, one)]
    return repeating.behind(scene, made, lines)


def _only_flags(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function does nothing but switch parameters, so that a call of it can go."""
    plain = (one for one in ast.walk(function) if isinstance(one, ast.stmt) and not hasattr(one, "body"))
    return all(_FLAGGING.search(ast.unparse(one)) or _harmless(one) for one in plain)


def _harmless(statement: ast.stmt) -> bool:
    """Whether it binds a name of the function, or says something about it."""
    named = isinstance(statement, ast.Assign) and all(isinstance(one, ast.Name) for one in statement.targets)
    told = isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Constant, ast.Yield))
    return isinstance(statement, ast.Pass) or told or (named and not update.calls(statement))


WAYS = (
    (
        "Leave the parameters switched on",
        "What is made of the parameters records its graph; a loss that takes it detached trains none of them.",
        Tier.MEANT, left_on,
    ),
    (
        "Make it before the parameters are switched off",
        "What is made of the parameters before they are switched off records its graph.",
        Tier.ORDER, made_before,
    ),
    (
        "Make it again when the parameters are on",
        "What is made of the parameters once they are on again records its graph.",
        Tier.AGAIN, made_again,
    ),
)  # fmt: skip
"""What can be done where something is made of parameters while they are switched off."""


def frozen(diagnosis: Diagnosis, sources: Sources) -> Iterator[tuple[Source, ast.AST]]:
    """The places at which parameters were switched off for good, each once."""
    origins = diagnosis.trace.origins
    if not any(one.used for one in origins):
        yield from dict.fromkeys(sources.innermost(one.stack for one in origins if one.kind == "frozen"))


def module(source: Source, node: ast.AST) -> str:
    """The module whose parameters are switched off at a node, as it is written there."""
    loop = source.parent(source.statement(node))
    return calls.owner(loop.iter if isinstance(loop, ast.For) else node)
