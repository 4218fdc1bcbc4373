"""Batches that a loop takes in random order, and states of which each row belongs to a row of a batch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits.passes.drawn import Drawing, is_false, mixed, mixes
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_STARTS = ("zeros", "ones", "full", "empty", "rand")
_REDUCES = frozenset({"mean", "sum", "std", "var"})
_DEEPEST = 6
"""How many definitions are followed from a loop to where its batches come from."""
_Place = tuple[Source, ast.AST]


def shuffled(sources: Sources, failed: Sequence[Frame], crossings: Iterable[Crossing] = ()) -> tuple[Frame, ...]:
    """The innermost loop around a backward, where it takes its batches in random order; () elsewhere.

    Each turn then begins with examples that have nothing to do with those of the turn before. So it does, too, where
    what the turn hands to the call that goes on from the state (`crossings`) is drawn there: `X[order[i:j]]`,
    `random.choice(episodes)`, a function that returns windows from random places.
    """
    stack = list(sources.nodes(failed))
    for at, (frame, source, node) in enumerate(stack):
        if (loop := next(blocks.loops(source, node), None)) is not None:
            callers = [(one, call) for _, one, call in stack[at + 1 :]]
            found = isinstance(loop, ast.For) and _is_random(sources, source, loop.iter, callers)
            return (frame,) if found or _is_drawn(sources, source, loop, crossings) else ()
    return ()


def _is_drawn(sources: Sources, source: Source, loop: ast.For | ast.While, crossings: Iterable[Crossing]) -> bool:
    """Whether each turn of a loop draws what it first hands to a call that goes on from a state."""
    bound = {name for node in ast.walk(loop) if isinstance(node, ast.stmt) for name in names.binds(node)}
    search = Drawing(sources, source, loop)
    if isinstance(loop, ast.For) and search.finds(loop.iter):
        return True
    for one in crossings:
        states = {carrier.path for carrier in one.carriers}
        for _, home, call in sources.nodes(one.used):
            if home is not source or not isinstance(call, ast.Call) or not blocks.holds(loop, call):
                continue
            fresh = (value for value in calls.values(call) if _varies(value, bound) and not names.reads(value) & states)
            if (first := next(fresh, None)) is not None and search.finds(first):
                return True
    return False


def _varies(value: ast.expr, bound: set[str]) -> bool:
    return any(
        isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in bound) for node in ast.walk(value)
    )


def _is_random(sources: Sources, source: Source, value: ast.AST, callers: Sequence[_Place]) -> bool:
    """Whether what an expression, or a function that it calls, gives is in random order.

    Each definition is looked at once: in a large project many lead to the same.
    """
    found: list[tuple[Source, ast.AST, Sequence[_Place], int]] = [(source, value, callers, 0)]
    known = {value}
    for home, given, above, depth in found:
        for node in ast.walk(given) if depth < _DEEPEST else ():
            following: Iterable[tuple[Source, ast.AST, Sequence[_Place]]] = ()
            if isinstance(node, ast.Call):
                asked = calls.keyword(node, "shuffle")
                if mixes(node) or (asked is not None and not is_false(asked)):
                    return True
                # A method of what was handed over is known where the caller's file is.
                files = dict.fromkeys((home, *(one for one, _ in above)))
                made = next(filter(None, (sources.called(one, node) for one in files)), None)
                following = [(*made, ())] if made is not None else ()
            elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                following = _given(sources, home, node, above)
            for other, one, further in following:
                if one not in known:
                    known.add(one)
                    found.append((other, one, further, depth + 1))
    return False


def _given(
    sources: Sources, source: Source, node: ast.Name | ast.Attribute, callers: Sequence[_Place]
) -> Iterator[tuple[Source, ast.AST, Sequence[_Place]]]:
    """What a variable or an attribute was given: where it is bound, put into another order, or handed over."""
    function = source.function(node)
    if isinstance(node, ast.Attribute):
        for home in sources.imported_by(source):
            for one in names.assignments(home, f"self.{node.attr}"):
                yield home, one.value or one, ()
        return
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and callers:
        outer, handing = callers[0]
        if (handed := calls.handed(handing, function, node.id)) is not None:
            yield outer, handed, callers[1:]
    for one in names.assignments(source, node.id):
        if source.function(one) in {function, None}:
            yield source, one.value or one, callers
    for other in source.mentioning(node.id):
        if (call := mixed(other, node.id)) is not None and source.function(call) in {function, None}:
            yield source, call, callers


def is_of_rows(sources: Sources, carrier: Carrier) -> bool:
    """Whether a state has a row for each of a batch: it begins as large as an input, or of one, or a call hands it on.

    `out, self.hidden = self.rnn(x, self.hidden)` is how recurrent modules hand it on. What is as large as a feature, as
    a running mean is, has no such rows.
    """
    home = sources.source(carrier.file)
    name = carrier.path.rpartition(".")[2]
    for source in sources.imported_by(home) if home is not None and name.isidentifier() else ():
        for node in source.mentioning(name):
            if isinstance(node, ast.IfExp) and _is_made_of_given(source, node, name):
                return True
            if not isinstance(node, ast.Assign):
                continue
            for part, value in names.paired(node):
                if calls.path_of(part).rpartition(".")[2] == name:
                    several = any(isinstance(target, ast.Tuple) for target in node.targets)
                    hands = _hands_on(value, name, several=several) and not _is_averaged(sources, source, value, name)
                    if hands or _is_as_large(source, value):
                        return True
    return False


def _is_made_of_given(source: Source, choice: ast.IfExp, name: str) -> bool:
    """Whether a state that is None at first is computed then of what the function is given, and of no mean of it."""
    match choice:
        case ast.IfExp(ast.Compare(asked, [ast.Is()], [ast.Constant(None)]), start, _) | ast.IfExp(
            ast.Compare(asked, [ast.IsNot()], [ast.Constant(None)]), _, start
        ):
            function = source.function(choice)
            own = calls.path_of(asked).rpartition(".")[2] == name and isinstance(start, ast.Call)
            given = {*calls.parameters(function)} - {"self"} if isinstance(function, ast.FunctionDef) else set[str]()
            reduced = {calls.name_of(one) for one in calls.within(start)} & _REDUCES
            return own and not reduced and bool(names.reads(start) & given)
    return False


def _hands_on(value: ast.expr, name: str, *, several: bool) -> bool:
    given = (part for one in value.args for part in names.parts(one)) if isinstance(value, ast.Call) else ()
    return several and any(calls.path_of(one).rpartition(".")[2] == name for one in given)


def _is_averaged(sources: Sources, source: Source, value: ast.expr, name: str) -> bool:
    """Whether the function that is handed a state adds one number to it, as to a running mean of a loss."""
    made = sources.called(source, value) if isinstance(value, ast.Call) else None
    if made is None or not isinstance(value, ast.Call):
        return False
    home, function = made
    for one in calls.parameters(function):
        if calls.path_of(calls.handed(value, function, one)).rpartition(".")[2] == name:
            within = {id(node) for node in ast.walk(function)}
            own = (node for node in names.assignments(home, one) if id(node) in within and node.value is not None)
            return any(map(_is_number, (call for node in own for call in calls.within(node))))
    return False


def _is_number(call: ast.Call) -> bool:
    """Whether a call gives one number of all values: `x.mean()`, `torch.mean(x)`."""
    own = isinstance(call.func, ast.Attribute) and not calls.path_of(call.func).startswith("torch.")
    return calls.name_of(call) in _REDUCES and len(call.args) + len(call.keywords) + own == 1


def _is_as_large(source: Source, value: ast.expr) -> bool:
    """Whether a value is a start of the size of what the function is given, or of how many that are."""
    for call in calls.within(value):
        name = calls.name_of(call).removeprefix("new_")
        if not name.startswith(_STARTS):
            continue
        if name.endswith("_like"):
            inner = {calls.name_of(one) for given in call.args for one in calls.within(given)}
            return not inner & _REDUCES
        function = source.function(call)
        known = (
            set(calls.parameters(function)) if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else set()
        )
        return any(_counts(one, known) for given in call.args for one in ast.walk(given))
    return False


def _counts(node: ast.AST, parameters: set[str]) -> bool:
    """Whether an expression is how many rows something has, or a number that the function is given."""
    match node:
        case ast.Name(id=name):
            return name in parameters - {"self"}
        case (
            ast.Call(func=ast.Name(id="len")) | ast.Call(func=ast.Attribute(attr="size"), args=[ast.Constant(value=0)])
        ):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=0)):
            return True
    return False
