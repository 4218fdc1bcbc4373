"""Where the gradient of a tensor that is no leaf arrives, and how it is read from there."""

from __future__ import annotations

import ast

from autofix.probe.wire import Origin
from autofix.syntax import names
from autofix.syntax.edits import Step, replace
from autofix.syntax.sources import Sources

WHY = "The tensor with the value that is meant is the leaf, so that its gradient arrives in it."


def read_from_whole(origin: Origin, sources: Sources) -> list[Step]:
    """The same part of the gradient of what a tensor is a part of, `noise.grad[:n]` of `noise[:n]`; [] of no part."""
    for _, source, node in sources.located(origin.stack[:1]):
        statement = source.statement(node)
        given = list(names.assignments(source, origin.name))
        if not isinstance(node, ast.Subscript) or given != [statement] or given[0].value is not node:
            return []
        reads = names.mentions(source.function(statement) or source.tree, f"{origin.name}.grad")
        part = f"{source.segment(node.value)}.grad[{source.segment(node.slice)}]"
        return [edit for one in reads for edit in replace(source, one, part)]
    return []
