"""Where a tensor is handed from one part of a graph to another: by which variables, and in which frames."""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Container, Iterator

from autofix.probe.wire import Carrier, Crossing, Frame, Stack
from autofix.syntax import calls, names, nested
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_NEAR = 2


def known(crossing: Crossing, sources: Sources) -> list[tuple[Source, ast.expr]]:
    """Where variables that held the tensor of a crossing were handed on, the innermost frame first."""
    return [
        (source, operand)
        for frame, source, node in sources.located(crossing.used)
        for operand in calls.tensors_in(node)
        if carries(crossing, frame, ast.unparse(operand))
    ]


def as_one_of(paths: Container[str], callers: Stack, sources: Sources) -> Iterator[tuple[Source, ast.expr]]:
    """The operands of calls around an operation that are one of some variables or a part of it, innermost first."""
    for _, source, call in list(sources.located(callers))[:_NEAR]:
        yield from ((source, one) for one in calls.tensors_in(call) if calls.path_of(calls.whole(one)) in paths)


def to(crossing: Crossing, located: list[tuple[Frame, Source, ast.expr]]) -> set[str]:
    """The parameters of a frame's function that its caller gave the tensor of `crossing`."""
    (_, source, node), *callers = located
    function = source.function(node)
    if function is None or not callers:
        return set()
    (frame, _, call), known = callers[0], calls.parameters(function)
    given = {name: calls.argument(call, known, name) for name in known}
    return {name for name, one in given.items() if one is not None and carries(crossing, frame, ast.unparse(one))}


def carries(crossing: Crossing, frame: Frame, name: str) -> bool:
    """Whether `name`, read in `frame`, is a variable that held the tensor of `crossing`."""
    return any(one.kind == "tensor" for one in _carriers(crossing, frame, name))


def in_container(crossing: Crossing, frame: Frame, name: str) -> bool:
    """Whether `name`, read in `frame`, is a variable that held the tensor of `crossing` together with others."""
    return any(one.kind not in nested.TENSORS for one in _carriers(crossing, frame, name))


def onward(crossing: Crossing, failed: Stack, sources: Sources) -> Iterator[tuple[Source, ast.expr]]:
    """What functions that compute the failing loss give their calls of a parameter made of a crossing's tensor.

    So does `D(fake)` in a helper that its caller gave `pool.query(fake)`, or a variable with that.
    """
    used = [(source, node) for _, source, node in sources.located(crossing.used)]
    for inner, outer in itertools.pairwise(failed):
        helper, home = sources.function(inner), sources.source(inner.file)
        _, source, call = next(sources.located((outer,)), (outer, None, None))
        if helper is None or home is None or not isinstance(call, ast.Call):
            return
        known = calls.parameters(helper)
        for name in known:
            given = calls.argument(call, known, name)
            if given is not None and any(where is source and _leads(where, node, given) for where, node in used):
                inside = (one for part in calls.within(helper) if not _looks(part) for one in calls.values(part))
                yield from ((home, one) for one in inside if isinstance(one, ast.Name) and one.id == name)


def _looks(call: ast.Call) -> bool:
    """Whether a function of Python's own is called, such as `len`: what that gives has no graph."""
    return isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)


def _leads(source: Source, node: ast.expr, given: ast.expr) -> bool:
    """Whether an argument is made of an expression: it holds that, or is what its statement binds."""
    bound = names.binds(source.statement(node)) if source.function(node) is source.function(given) else set()
    return node in ast.walk(given) or calls.path_of(given) in bound


def _carriers(crossing: Crossing, frame: Frame, name: str) -> list[Carrier]:
    return [
        one
        for one in crossing.carriers
        if one.path == name and (frame.function == one.function or frame.function.startswith(f"{one.function}."))
    ]
