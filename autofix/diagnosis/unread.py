"""Results that nothing reads, where what fails uses what the same call gave before."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.probe.wire import Frame, Stack
from autofix.syntax import names
from autofix.syntax.calls import path_of
from autofix.syntax.live import Needed, Scope
from autofix.syntax.modes import may_switch_off
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.writes import is_module

_CUTS = ("data", "detach")
Place = tuple[Frame, Source, ast.Assign]


def unread_results(sources: Sources, made: Iterable[Stack], failing: Stack) -> Iterator[Place]:
    """Where a call that made what fails is made again on the way there, and nothing reads what it gives then.

    With the frame of its function. A name that begins with `_`, and a call without gradient, are unread on purpose.
    """
    ways = [
        ({_called(source, node) for _, source, node in sources.nodes(stack)} - {""}, _lines(stack)) for stack in made
    ]
    for frame, source, node in sources.nodes(failing):
        for one in unread(source, source.function(node) or source.tree):
            call, place = _called(source, one.value), (frame.file, frame.function)
            if any(call in called and lines.get(place, 0) < one.lineno < frame.line for called, lines in ways):
                yield frame, source, one


def unread(source: Source, scope: Scope) -> list[ast.Assign]:
    """The assignments of a scope that give the results of a call, with their graphs, to names that nothing reads.

    What is read without its graph alone (`images.data`, to be saved as a picture) is not read by a loss.
    """
    lost = dict.fromkeys(Needed(source, scope).unread())
    lost |= dict.fromkeys(_read_without_graph(source, scope))
    return [
        one
        for one in dict.fromkeys(statement for statement, _ in lost)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and not _without_gradient(source, one)
        and all(
            isinstance(part, ast.Name) and (one, part.id) in lost and not part.id.startswith("_")
            for target in one.targets
            for part in names.parts(target)
        )
    ]  # fmt: skip


def _read_without_graph(source: Source, scope: Scope) -> Iterator[tuple[ast.stmt, str]]:
    """The assignments to a name of which all reads cut the graph in the same breath."""
    if not any(f".{cut}" in source.text for cut in _CUTS):
        return
    nodes = list(ast.walk(scope))
    cut = {one.value for one in nodes if isinstance(one, ast.Attribute) and one.attr in _CUTS}
    loads = [one for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    shown = {one.id for one in loads if one in cut} - {one.id for one in loads if one not in cut}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(name)]) if name in shown:
                yield node, name


def _lines(stack: Stack) -> dict[tuple[str, str], int]:
    """The line at which each function of a stack stood."""
    return {(frame.file, frame.function): frame.line for frame in stack}


def _called(source: Source, node: ast.AST) -> str:
    """What a call calls: a function or an object of the program's, not one of a module that it imports."""
    if not isinstance(node, ast.Call) or not path_of(node.func) or is_module(source, node.func):
        return ""
    return path_of(node.func)


def _without_gradient(source: Source, node: ast.AST) -> bool:
    held = (one for one in (node, *source.around(node)) if isinstance(one, ast.With))
    return any(may_switch_off(item.context_expr) for one in held for item in one.items)
