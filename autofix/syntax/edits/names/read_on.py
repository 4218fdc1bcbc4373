"""Whether what a statement writes in place is used after it by the name that it writes to, or that it gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from autofix.probe.wire import Frame
from autofix.syntax.edits.names.second_name import given_to_written, target_of
from autofix.syntax.reaching import reads_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.syntax.writes import chain

_Reads = Mapping[ast.expr, frozenset[ast.AST]]


def is_read_on(sources: Sources, stack: Sequence[Frame]) -> bool:
    """Whether somebody uses what is written at a place: the same function, or whoever calls it for its value.

    Nobody uses a value that is dropped (`x.detach().mul_(2)`, `scale_(x.data)`), or one that only variables are given
    which nothing uses.
    """
    for at, (_, source, node) in enumerate(sources.nodes(stack)):
        statement, written = source.statement(node), at == 0
        named = written and target_of(statement) is not None
        uses = [] if not named and _is_dropped(statement, node) else list(_uses(source, statement, written=written))
        if not all(isinstance(one, ast.Return) for one in uses):
            return True
        if not uses:
            return False
    return False


def _uses(source: Source, first: ast.stmt, *, written: bool) -> Iterator[ast.stmt]:
    """The statements of a function that use what one of them writes, or takes: those that give it no other name."""
    reads = reads_in(source.function(first) or source.tree)
    left, seen = [first], {first}
    while left:
        statement = left.pop()
        if (named := _read(statement, reads, written=written and statement is first)) is None:
            yield statement
            continue
        readers = {source.statement(one) for one in named} - seen
        seen |= readers
        left += readers


def _read(statement: ast.stmt, reads: _Reads, *, written: bool) -> list[ast.expr] | None:
    """What reads the name that a statement writes to, or gives to a value; None where it makes use of the value."""
    if written and (target := target_of(statement)) is not None:
        known = given_to_written(reads, statement) | {statement}
        found = (read for read, of in reads.items() if known & of and read.lineno > statement.lineno)
        return [read for read in found if isinstance(read, ast.Name) and read.id == target.id]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if isinstance(statement, (ast.Assign, ast.AugAssign)) and all(isinstance(one, ast.Name) for one in targets):
        return [read for read, of in reads.items() if statement in of]
    return None


def _is_dropped(statement: ast.stmt, call: ast.AST) -> bool:
    """Whether nothing takes the value of a call, or of what is called on that."""
    return isinstance(statement, ast.Expr) and call in set(chain(statement.value))
