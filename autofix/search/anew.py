"""What has to be computed anew beside what was made once, and what in it must stay as it was, read off a trace."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autofix.core.model import Diagnosis
from autofix.probe.wire import Frame, Stack
from autofix.syntax import blocks, calls, names, vocabulary
from autofix.syntax.edits import Step, computed_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

Places = dict[ast.Assign, tuple["Source", "Frame"]]


def assignments(stacks: Iterable[Stack], sources: Sources) -> Places:
    """The assignments at which tensors were made, each with its file and frame."""
    found: Places = {}
    for frame, source, node in (one for stack in stacks for one in sources.located(stack)):
        if isinstance(statement := source.statement(node), ast.Assign):
            found.setdefault(statement, (source, frame))
    return found


def behind(crossed: Places, diagnosis: Diagnosis, sources: Sources) -> Places:
    """The assignments that lead to what crosses, where their graph was freed with it: a kernel behind its factor."""
    leading = {
        before
        for one, (source, _) in crossed.items()
        for before in names.backward(names.reads(one), blocks.above(source, one))
    }
    freed = assignments((saved.made for saved in diagnosis.trace.saved if saved.freed_by), sources)
    again = names.bound_by([*crossed])
    return {one: at for one, at in freed.items() if one in leading and not names.binds(one) & again}


def drawn(statement: ast.stmt, source: Source, diagnosis: Diagnosis, sources: Sources) -> list[ast.Call]:
    """The calls within a statement that draw data, and make no part of the graph: they would draw other data anew."""
    stacks = [*(one.made for one in diagnosis.trace.saved), *(one.made for one in diagnosis.trace.crossings)]
    graph = {node for stack in stacks for _, where, node in sources.located(stack) if where is source}
    found: list[ast.Call] = []
    for node in ast.walk(statement):
        inside = any(part in found for part in blocks.around(source, node))
        if isinstance(node, ast.Call) and not inside and draws(node, source, sources):
            found += [node] if graph.isdisjoint(ast.walk(node)) else []
    return found


def draws(call: ast.Call, source: Source, sources: Sources) -> bool:
    """Whether a call, or the function of the user's that it means, draws random numbers."""
    called = sources.called(source, call)
    inside = [call, *(calls.within(called[1]) if called is not None else ())]
    return any(vocabulary.draws(calls.name_of(one)) for one in inside)


def in_call(statement: ast.Assign, source: Source, used: Stack, sources: Sources) -> list[Step]:
    """It in the function that uses it, which is defined beside it."""
    maker = source.function(statement)
    for _, where, node in sources.located(used):
        user = where.function(node)
        if maker is None or where is not source or not isinstance(user, ast.FunctionDef) or user is maker:
            continue
        if source.function(user) is maker:
            return computed_in(source, statement, [statement], user)
    return []
