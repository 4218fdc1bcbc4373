"""Results that nothing reads, where what fails uses what the same call gave before."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.probe.wire import Frame, Stack
from autofix.syntax.calls import path_of
from autofix.syntax.live import Needed, Scope, bound_by
from autofix.syntax.modes import may_switch_off
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.writes import is_module

Place = tuple[Frame, Source, ast.Assign]


def unread_results(sources: Sources, made: Iterable[Stack], failing: Stack) -> Iterator[Place]:
    """Where a call that made what fails is made again on the way there, and nothing reads what it gives then.

    With the frame of its function. A name that begins with `_`, and a call without gradient, are unread on purpose.
    """
    found: dict[ast.Assign, Place] = {}
    for stack in made:
        called = {_called(source, node) for _, source, node in sources.nodes(stack)} - {""}
        lines = {(frame.file, frame.function): frame.line for frame in stack}
        for frame, source, node in sources.nodes(failing):
            after = lines.get((frame.file, frame.function), 0)
            for one in unread(source, source.function(node) or source.tree):
                if _called(source, one.value) in called and after < one.lineno < frame.line:
                    found.setdefault(one, (frame, source, one))
    yield from found.values()


def unread(source: Source, scope: Scope) -> list[ast.Assign]:
    """The assignments of a scope that give the results of a call, with their graphs, to names that nothing reads."""
    lost = set(Needed(source, scope).unread())
    return [
        one
        for one in dict.fromkeys(statement for statement, _ in lost)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and not _without_gradient(source, one)
        and all((one, name) in lost and not name.startswith("_") for name in bound_by(one))
    ]  # fmt: skip


def _called(source: Source, node: ast.AST) -> str:
    """What a call calls: a function or an object of the program's, not one of a module that it imports."""
    if not isinstance(node, ast.Call) or not path_of(node.func) or is_module(source, node.func):
        return ""
    return path_of(node.func)


def _without_gradient(source: Source, node: ast.AST) -> bool:
    around: ast.AST | None = node
    while around is not None:
        if isinstance(around, ast.With) and any(may_switch_off(item.context_expr) for item in around.items):
            return True
        around = source.parent(around)
    return False
