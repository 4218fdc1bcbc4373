"""What a statement writes by a variable that was given it: `x = self.weight`, or what a caller handed over as `x`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autofix.probe.wire import Frame
from autofix.syntax.calls import Function, argument, parameters, path_of
from autofix.syntax.edits.names.second_name import given_to_written
from autofix.syntax.reaching import reads_in
from autofix.syntax.sources import Sources


def lent_leaf(sources: Sources, stack: Sequence[Frame]) -> str:
    """The name or attribute, of the function or of a caller, that shows what is written; '' where it has but one."""
    known: frozenset[ast.AST] = frozenset()
    function: Function | ast.Module | None = None
    found = ""
    for _, source, node in sources.nodes(stack):
        scope = source.function(node) or source.tree
        reads = reads_in(scope)
        if function is None:
            known = given_to_written(reads, source.statement(node))
        elif (handed := _handed(function, known, node)) is not None:
            found, known = path_of(handed), reads.get(handed, frozenset())
        else:
            return found
        seen: set[ast.expr] = set()
        while (value := _assigned(known)) is not None and value not in seen:
            seen.add(value)
            found, known = path_of(value), reads.get(value, frozenset())
        function = scope
    return found


def _assigned(known: frozenset[ast.AST]) -> ast.expr | None:
    """The name or attribute that a variable was given, where that is the one value that it may have."""
    match list(known):
        case [ast.Assign([ast.Name()], ast.Name() | ast.Attribute() as value)]:
            return value
    return None


def _handed(function: Function | ast.Module, known: frozenset[ast.AST], call: ast.AST) -> ast.expr | None:
    """The name or attribute that a call gives to the parameter that is all of some definitions."""
    match list(known):
        case [ast.arg(name)] if not isinstance(function, ast.Module):
            handed = argument(call, parameters(function), name)
            return handed if isinstance(handed, (ast.Name, ast.Attribute)) else None
    return None
