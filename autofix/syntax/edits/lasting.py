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
    """What lasts, as the code calls it, and the statement that gives it the name that is written."""

    path: str
    source: Source
    given: ast.Assign


def lasting(sources: Sources, stack: Sequence[Frame]) -> Lasting | None:
    """What a pass writes to by a second name (`x = self.mesh`, `x += …`), if it is no state that passes hand on.

    A state is written by its own name, too, or bound elsewhere than where it starts, or it starts empty, or its new
    value is made of the old one.
    """
    _, source, node = next(sources.nodes(stack), (None, None, None))
    if source is None or node is None:
        return None
    match source.statement(node):
        case ast.AugAssign(ast.Name() as alias, value=value):
            needed = names.reads(value)
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name() as alias, attr=attr), args=args)) if (
            attr in _OPERATORS
        ):
            needed = names.read_by(args)
        case _:
            return None
    reads = Reaching(source.function(node) or source.tree).reads
    match [*reads.get(alias, ())]:
        case [ast.Assign([ast.Name()], ast.Name() as value) as given] if _is_before_loop(source, given, reads[value]):
            path = value.id
        case [ast.Assign([ast.Name()], ast.Attribute() as value) as given] if path_of(value):
            path = path_of(value)
        case _:
            return None
    if _is_made_of_old(sources, stack, needed, {alias.id, path}) or _is_state(sources, stack, path):
        return None
    return Lasting(path, source, given)


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
        called, needed = function, made_of.intersection(calls.parameters(function))
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
            if writes.written(source, node).rpartition(".")[2] == last:
                return True
            stored = isinstance(node, ast.Attribute) and node.attr == last and not isinstance(node.ctx, ast.Load)
            if stored and getattr(source.function(node), "name", "") not in _STARTING:
                return True
    return False
