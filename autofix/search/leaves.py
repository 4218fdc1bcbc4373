"""Where the gradient of a tensor that is no leaf arrives, and how it is read from there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Origin
from autofix.syntax import names
from autofix.syntax.calls import method, path_of
from autofix.syntax.edits import Step, delete, insert_after, replace
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

WHY = "The tensor with the final value is the leaf, so that its gradient arrives in it."
LEAF = ".detach().requires_grad_()"
"""What makes a leaf of a tensor, with its value."""


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


def under_own_name(source: Source, scope: ast.AST, bound: ast.stmt, path: str, root: ast.expr) -> list[Step]:
    """A leaf made of a variable, by whose name all but `root` read that; [] where nothing reads a gradient there."""
    uses = (part for one in names.uses(scope) for part in _held(one, path))
    reads = [one for one in uses if one is not root and one.lineno > bound.lineno]
    if not any(isinstance(whole := source.parent(one), ast.Attribute) and whole.attr == "grad" for one in reads):
        return []
    name = f"{path}_leaf" if "." in path else names.unused(source, f"{path}_leaf")
    edits = insert_after(source, bound, [f"{name} = {path}{LEAF}"])
    keeps = {one for one in map(source.statement, reads) if method(one) == "retain_grad"}
    edits += [step for one in keeps for step in delete(source, one)]
    return edits + [s for one in reads if source.statement(one) not in keeps for s in replace(source, one, name)]


def _held(node: ast.expr, path: str) -> Iterator[ast.expr]:
    """The part of a read that is the variable itself: `h` of `h.grad`."""
    while isinstance(node, ast.Attribute) and path_of(node) != path:
        node = node.value
    if path_of(node) == path:
        yield node
