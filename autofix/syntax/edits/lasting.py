"""What outlives a pass that writes to it by a second name, which each pass gives it anew."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from autofix.probe.wire import Frame
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.calls import Function, path_of
from autofix.syntax.edits.local_name import starts_empty
from autofix.syntax.reaching import Reaching
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_STARTING = ("__init__", "setup")
"""Methods in which an attribute gets the value that it begins with."""
_OPERATORS = ("add_", "sub_", "mul_", "div_")
"""Methods that do what `x op= …` does."""


class Lasting(NamedTuple):
    """What lasts, as the code calls it, and the expression that gives it the name that is written."""

    path: str
    source: Source
    given: ast.expr


def lasting(sources: Sources, stack: Sequence[Frame]) -> Lasting | None:
    """What a pass writes to by a second name (`x = self.mesh`, `x += …`), if it is no state that passes hand on.

    A caller may have given it that name (`scaled(self.mesh)`). A state is written by its own name, too, or bound
    elsewhere than where it starts, or it starts empty, or its new value is made of the old one.
    """
    frames = [(source, node) for _, source, node in sources.nodes(stack)]
    statement = frames[0][0].statement(frames[0][1]) if frames else None
    match statement:
        case ast.AugAssign(target=target, value=value):
            needed = names.reads(value)
        case ast.Expr(ast.Call(func=ast.Attribute(value=target, attr=attr), args=args)) if attr in _OPERATORS:
            needed = names.read_by(args)
        case _:
            return None
    alias = writes.shown(target)
    found = _given(frames, alias) if isinstance(alias, ast.Name) else None
    if not isinstance(alias, ast.Name) or found is None:
        return None
    if _is_made_of_old(sources, stack, needed, {alias.id, found.path}) or _is_state(sources, stack, found.path):
        return None
    return found


def _given(frames: Sequence[tuple[Source, ast.AST]], name: ast.Name) -> Lasting | None:
    """Where an attribute, or what was bound before a loop, got this name: in its function, or in a caller of that."""
    source, function = frames[0][0], frames[0][0].function(name)
    reads = Reaching(function or source.tree).reads
    match [*reads.get(name, ())]:
        case [ast.Assign([ast.Name()], given) as statement]:
            shown = writes.shown(given)
            if isinstance(shown, ast.Name) and _is_before_loop(source, statement, reads.get(shown, ())):
                return Lasting(shown.id, source, given)
        case [ast.arg(arg=parameter)] if function is not None and len(frames) > 1:
            frames = frames[1:]
            source, call = frames[0]
            if (handed := calls.argument(call, calls.parameters(function), parameter)) is None:
                return None
            given, shown = handed, writes.shown(handed)
        case _:
            return None
    if isinstance(shown, ast.Attribute) and path_of(shown):
        return Lasting(path_of(shown), source, given)
    return _given(frames, shown) if isinstance(shown, ast.Name) else None


def _is_made_of_old(sources: Sources, stack: Sequence[Frame], needed: set[str], old: set[str]) -> bool:
    """Whether the new value is made of `needed`, and that of the old one: in the function itself, or in a caller.

    There it may be read by its own path (`env.position`), or as what the last call gave (`seen = env.step(net(seen))`).
    """
    lasts = {one.rpartition(".")[2] for one in old if "." in one}
    called: Function | None = None
    for _, source, node in sources.nodes(stack):
        statement, function = source.statement(node), source.function(node)
        if called is not None:
            handed = (calls.argument(node, calls.parameters(called), one) for one in needed)
            needed, old = names.read_by(filter(None, handed)), names.binds(statement)
        made_of = needed | names.read_by(names.backward(set(needed), blocks.above(source, statement)))
        if made_of & old or any(one.rpartition(".")[2] in lasts for one in made_of if "." in one):
            return True
        if function is None:
            return False
        known = {one.partition(".")[0] for one in made_of}
        called, needed = function, known.intersection(calls.parameters(function))
    return False


def _is_before_loop(source: Source, given: ast.stmt, definitions: Iterable[ast.AST]) -> bool:
    """Whether each round of a loop gives the second name anew to what was bound before the loop."""
    loop, bound = next(blocks.loops(source, given), None), list(definitions)
    return loop is not None and bool(bound) and not any(loop in (one, *source.around(one)) for one in bound)


def _is_state(sources: Sources, stack: Sequence[Frame], path: str) -> bool:
    """Whether it is bound or written by its own name elsewhere than where it starts, or starts empty."""
    last = path.rpartition(".")[2]
    for source in sources.files(stack):
        if starts_empty(source, path):
            return True
        for node in source.mentioning(last):
            prefix, _, name = writes.written(source, node).rpartition(".")
            if name == last and bool(prefix) == ("." in path):  # a variable may be called as the attribute is
                return True
            if not isinstance(node, ast.Attribute) or node.attr != last or isinstance(node.ctx, ast.Load):
                continue
            if getattr(source.function(node), "name", "") not in _STARTING and not _is_moved(source, node):
                return True
    return False


def _is_moved(source: Source, node: ast.expr) -> bool:
    """Whether an attribute is only given what it was: `self.mesh = self.mesh.to(device)`."""
    statement = source.statement(node)
    return isinstance(statement, ast.Assign) and path_of(writes.shown(statement.value)) == path_of(node)
