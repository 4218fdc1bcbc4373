"""Where a program collects what several passes train on, read off a trace: the statements, and the functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.core.model import Diagnosis
from autofix.diagnosis.scenes import Turn, turn
from autofix.probe.wire import Carrier, Stack
from autofix.syntax import blocks, calls, modes, names, update
from autofix.syntax.calls import Function
from autofix.syntax.edits import Step, without_gradient
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_TWO = 2
_HANDS_ON = ("map", "imap", "starmap", "submit", "apply_async", "map_async", "Thread", "run_in_executor")
"""Calls that have a function run elsewhere or later, where the mode of the caller does not hold."""
_NUMBERS = ("item", "tolist", "argmax", "int", "float")
"""Calls whose values have no graph."""


def places(diagnosis: Diagnosis, sources: Sources) -> list[list[tuple[Turn, Stack]]]:
    """Where collecting and training part, by blocks: what is collected in an outer function was collected first."""
    found: dict[int, list[tuple[Turn, Stack]]] = {}
    stack = diagnosis.failure.stack
    for made in _made(diagnosis):
        place = turn(sources, made, stack) if not _constructs(made, sources) else None
        if place is not None and place.loop is None and _trained_on(place, made, diagnosis, sources):
            found.setdefault(id(place.block), []).append((place, made))
    return sorted(found.values(), key=lambda one: -len(_deeper(one[0][0], stack)))


def collectors(
    found: list[tuple[Turn, Stack]], diagnosis: Diagnosis, sources: Sources
) -> Iterator[tuple[Source, Function]]:  # fmt: skip
    """Each function that only collects: no pass that is trained goes through it."""
    trained = [c.used for c in diagnosis.trace.crossings] + _training(diagnosis)
    apart = {(f.file, f.function) for stack in trained for f in stack}
    for frame in (frame for _, made in found for frame in reversed(made)):
        key = (frame.file, frame.function)
        function, source = sources.function(frame), sources.source(frame.file)
        if key not in apart and function is not None and source is not None and not _is_forward(function.name):
            yield source, function
        apart.add(key)


def handed_on(diagnosis: Diagnosis, sources: Sources) -> Iterator[tuple[Source, Function]]:
    """Each function that code without gradient, in the files of the failing call, only hands on to be run elsewhere."""
    for source in sources.files(diagnosis.failure.stack):
        contexts = (one for one in source.mentioning("with") if isinstance(one, ast.With))
        off = [one for one in contexts if any(modes.switches_off(item.context_expr) for item in one.items)]
        given = [
            calls.name_of(argument)
            for call in calls.within(*(statement for one in off for statement in one.body))
            for argument in calls.values(call)
            if calls.name_of(call) in _HANDS_ON and calls.path_of(argument)
        ]
        for each, name in ((each, name) for each in sources.imported_by(source) for name in dict.fromkeys(given)):
            for function in each.definitions.get(name, ()):
                if isinstance(function, ast.FunctionDef) and not any(map(modes.switches_off, function.decorator_list)):
                    yield each, function


def wrapped(place: Turn, made: list[ast.stmt], diagnosis: Diagnosis) -> list[Step]:
    """The statements from the first to the last that collect, under one header, with what the first one overwrites."""
    at = sorted(place.block.index(one) for one in made)
    first = at[0]
    while first and _overwrites(place.block[first], place.block[first - 1]):
        first -= 1
    span = place.block[first : at[-1] + 1]
    collected = _made(diagnosis)
    used = [one.used for one in diagnosis.trace.crossings if one.by != "earlier" and one.used not in collected]
    if _inside(place.source, span, [*_training(diagnosis), *used]):
        raise Declined("statements that train stand between those that collect")
    return without_gradient(place.source, span)


def _overwrites(statement: ast.stmt, earlier: ast.stmt) -> bool:
    """Whether a statement makes new values of those that one before it gave the same names: nobody else reads them."""
    bound = names.binds(earlier)
    return isinstance(earlier, ast.Assign) and bool(bound) and bound <= names.binds(statement) & names.reads(statement)


def repeats(place: Turn, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether a loop leads from the block of `place` to the failing backward."""
    if isinstance(place.backward, (ast.For, ast.While)):
        return True
    inner = _deeper(place, diagnosis.failure.stack)
    if any(True for _, source, node in sources.nodes(inner) for _ in blocks.loops(source, node)):
        return True
    around = blocks.loops(place.source, place.call)
    return any(one in list(ast.walk(place.backward)) for one in around)


def is_term(diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether what was made is an addend of the loss: a penalty without gradient would be no penalty."""
    failing = [source.statement(node) for _, source, node in sources.nodes(diagnosis.failure.stack[:1])]
    trained = names.read_by(failing)
    for crossing in diagnosis.trace.crossings:
        for _, source, node in sources.nodes(crossing.used[:1] if crossing.by != "earlier" else ()):
            found: ast.AST | None = node
            while isinstance(found, ast.BinOp) and isinstance(found.op, (ast.Mult, ast.Div)):
                found = source.parent(found)
            added = found if isinstance(found, ast.BinOp) else source.statement(node)
            if not isinstance(added, (ast.BinOp, ast.AugAssign)) or not isinstance(added.op, ast.Add):
                continue
            statement = source.statement(node)
            if (
                isinstance(statement, ast.Return)
                or statement in failing
                or names.meets(names.binds(statement), trained)
            ):
                return True
    return False


def decorates(source: Source) -> bool:
    """Whether a file switches gradients off by decorators."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = (node for node in source.walk() if isinstance(node, kinds))
    return any(modes.switches_off(one) for function in functions for one in function.decorator_list)


def _made(diagnosis: Diagnosis) -> list[Stack]:
    """Where the graph that is no longer there was made, as far as the trace tells."""
    crossings = (one.made for one in diagnosis.trace.crossings if one.by != "earlier")
    return list(dict.fromkeys(stack for stack in (*crossings, *(s.made for s in diagnosis.trace.saved)) if stack))


def _training(diagnosis: Diagnosis) -> list[Stack]:
    """The stacks of backward calls and of steps."""
    trace = diagnosis.trace
    steps = (write.stack for write in trace.step_sites)
    return [diagnosis.failure.stack, *(one.stack for one in trace.earlier), *steps]


def is_remembered(place: Turn, made: Stack, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether what is made is kept in a memory from which each pass draws at random, and trained in no other way."""
    held = [one.carriers for one in diagnosis.trace.crossings if one.by == "failing" and one.made == made]
    drawn = any(_draws(carrier, sources) for carriers in held for carrier in carriers)
    return drawn and not _leads_on(place)


def _leads_on(place: Turn) -> bool:
    """Whether the backward of the same pass goes through what is made without the memory."""
    between = place.block[place.block.index(place.step) + 1 : place.block.index(place.backward)]
    computed = [one for one in between if not isinstance(one, ast.Expr) and not _is_number(one)]
    after = [*names.leading(computed, place.backward), place.backward]
    return names.meets(names.binds(place.step), names.read_by(after))


def _is_number(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and any(calls.name_of(one) in _NUMBERS for one in calls.within(statement))


def _trained_on(place: Turn, made: Stack, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether several passes, or several losses that take it as their target, come after what is made."""
    if isinstance(place.step, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if not update.calls(place.step) or _inside(place.source, [place.step], _training(diagnosis)):
        return False
    again = repeats(place, diagnosis, sources) or _is_target(place, diagnosis, sources)
    return again or is_remembered(place, made, diagnosis, sources)


def _draws(carrier: Carrier, sources: Sources) -> bool:
    source = sources.source(carrier.file)
    return source is not None and carrier.kind not in ("tensor", "parameter") and names.sampled(source, carrier.path)


def _deeper(place: Turn, stack: Stack) -> Stack:
    """The frames of a stack below the one in which the block stands."""
    for depth, frame in enumerate(stack):
        if blocks.passed(place.source, place.backward, [frame]):
            return stack[:depth]
    return ()


def _is_target(place: Turn, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether losses of both backwards take what is made as their second argument, as torch's losses do a target."""
    bound = {
        part.id
        for one in place.block[: place.block.index(place.backward)]
        for part in ast.walk(one)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    found: set[str] = set()
    for crossing in diagnosis.trace.crossings:
        for _, _, node in sources.located(crossing.used[:1]):
            if not isinstance(node, ast.Call) or len(node.args) < _TWO:
                return False
            target = calls.path_of(node.args[1])
            if target not in bound or any(calls.path_of(one) == target for one in node.args[:1]):
                return False
            found.add(target)
    return len(found) == 1


def _inside(source: Source, span: list[ast.stmt], stacks: list[Stack]) -> bool:
    """Whether a stack passes through statements."""
    first, last = span[0].lineno, span[-1].end_lineno or 0
    lines = (frame.line for stack in stacks for frame in stack if frame.file == str(source.path))
    return any(first <= line <= last for line in lines)


def _constructs(made: Stack, sources: Sources) -> bool:
    """Whether it is made while a module is: what a module is made of is not collected."""
    for source, function in ((sources.source(frame.file), sources.function(frame)) for frame in made):
        if source is not None and function is not None and function.name == "__init__":
            kind = source.parent(function)
            computes = any(
                isinstance(one, ast.FunctionDef) and one.name == "forward" for one in getattr(kind, "body", ())
            )
            if computes or any(calls.path_of(base).endswith("Module") for base in getattr(kind, "bases", ())):
                return True
    return False


def _is_forward(name: str) -> bool:
    """Whether a function is a module's own computation, which whoever trains it calls too."""
    return name == "forward" or name.startswith("__")
