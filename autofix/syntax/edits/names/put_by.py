"""A tensor that a function puts by under another name, and writes a part of behind that: `before = x`, `x[0] = …`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from autofix.probe.wire import Frame
from autofix.syntax import blocks
from autofix.syntax.calls import path_of
from autofix.syntax.edits.names.second_name import given_to_written, target_of
from autofix.syntax.reaching import reads_in
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_Reads = Mapping[ast.expr, frozenset[ast.AST]]


def put_by(sources: Sources, stack: Sequence[Frame]) -> str:
    """The name that shows what a write to a part of a variable does, and was given the whole, or gave it; ''.

    A plain assignment of the same function gave it, in the block of the write or around it and in no other loop, and
    both names are read behind the write. An attribute that is given a tensor may be a state: of that nothing is said.
    """
    for _, source, node in sources.nodes(stack[:1]):
        write = source.statement(node)
        scope = source.function(node) or source.tree
        reads, target = reads_in(scope), target_of(write)
        if target is None or not _writes_part(write) or not _is_read_behind(reads, target.id, write):
            return ""
        known = given_to_written(reads, write)
        for given, name in (*_of_definitions(known), *_of_readers(scope, reads, known, write)):
            if _is_straight(source, given, write) and _is_read_behind(reads, name, write):
                return name
    return ""


def _writes_part(write: ast.stmt) -> bool:
    """Whether a statement writes `x[…] = …` or `x[…] op= …`: nobody puts a whole by who gives the name a new one."""
    match write:
        case ast.Assign([ast.Subscript()]) | ast.AugAssign(ast.Subscript()):
            return True
    return False


def _of_definitions(known: frozenset[ast.AST]) -> Iterator[tuple[ast.stmt, str]]:
    """`y = x`, where `y` is written: that, and `x`."""
    match [*known]:
        case [ast.Assign([ast.Name()], ast.Name(name)) as given]:
            yield given, name


def _of_readers(
    scope: ast.AST, reads: _Reads, known: frozenset[ast.AST], write: ast.stmt
) -> Iterator[tuple[ast.stmt, str]]:
    """`y = x`, where `x` is written: that, and `y`."""
    for one in ast.walk(scope):
        match one:
            case ast.Assign([ast.Name(name)], ast.Name() as value) if known and one.lineno < write.lineno:
                if reads.get(value, frozenset()) - {write} == known:
                    yield one, name


def _is_straight(source: Source, given: ast.stmt, write: ast.stmt) -> bool:
    """Whether whoever comes to a write came by an assignment just before, once for each."""
    block = blocks.block_of(source, given)
    return any(one in block for one in blocks.holders(source, write)) and [*blocks.loops(source, given)] == [
        *blocks.loops(source, write)
    ]


def _is_read_behind(reads: _Reads, name: str, write: ast.stmt) -> bool:
    """Whether a name is read behind a write."""
    end = write.end_lineno or write.lineno
    return any(path_of(one) == name and one.lineno > end for one in reads)
