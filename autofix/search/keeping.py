"""Which calls decide whether a backward keeps its graph: its own, and those of helpers that pass the flag on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Stack
from autofix.syntax import calls, vocabulary
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

FLAG, CREATE = "retain_graph", "create_graph"


def freeing(stack: Stack, sources: Sources, flag: str = FLAG) -> Iterator[tuple[Source, ast.Call]]:
    """The call of backward, or of `grad`, at a stack, and while it passes a flag on, those of the helpers around it."""
    for depth, (_, source, node) in enumerate(sources.located(stack)):
        if not isinstance(node, ast.Call):
            return
        helper = sources.function(stack[depth - 1]) if depth else None
        if depth and (helper is None or flag not in calls.parameters(helper)):
            return
        taken = calls.differentiation(node) or vocabulary.BACKWARD
        if len(node.args) > (calls.parameters(helper).index(flag) if helper else calls.place_of(taken, flag)):
            return
        yield source, node
        if not passes_on(node, flag):
            return


def passes_on(call: ast.Call, flag: str = FLAG) -> bool:
    """Whether a call is given the flag as a variable, which a caller may set."""
    return isinstance(calls.keyword(call, flag), ast.Name)
