"""A second name that a function gives to a tensor it then writes to, of no use unless one of the two is a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.probe.wire import Frame
from autofix.syntax import blocks, update, writes
from autofix.syntax.calls import path_of
from autofix.syntax.edits.names.second_name import reads_in, seconds
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

_PLAIN = frozenset({"self", "float", "torch", "math"})
"""The names in what is written that is the same in each pass."""
_FILLS = frozenset({"masked_fill_", "index_fill_"})
"""Methods that also take where they write; their last argument is the value."""


def is_taken_for_copy(sources: Sources, stack: Sequence[Frame]) -> bool:
    """Whether a write is by one of two names of a tensor that its function could not tell apart otherwise.

    Each is given its value once and no other, and both are read behind the write: who knew that they are one tensor
    would need one name. What is written is a number or what `self` holds: it masks, and makes no target of what it
    writes to.
    """
    if not _masks(sources, stack):
        return False
    innermost = next((source.statement(node) for _, source, node in sources.nodes(stack)), None)
    found = list(seconds(sources, stack, older=False))
    return any(
        isinstance(one.link, ast.Name)
        and _is_idle(source, statement, one.name[0], one.link, here=statement is innermost)
        for source, statement, one in found
    )


def _is_idle(source: Source, write: ast.stmt, kept: str, link: ast.Name, *, here: bool) -> bool:
    """Whether an assignment that gives one plain name the value of another (`link`) says nothing if both stay one.

    `here`: the statement writes itself, and the name that is written is read behind it. Else it calls a function that
    does: then only the result is, for by the name that was handed over either may be meant.
    """
    given = source.statement(link)
    names = [one.path for one in update.bindings(given) if one.value is link and isinstance(one.target, ast.Name)]
    if len(names) != 1 or [*blocks.loops(source, given)] != [*blocks.loops(source, write)]:
        return False
    reads = reads_in(source.function(link) or source.tree)
    values = {names[0]: frozenset({given}), link.id: reads.get(link, frozenset())}
    if kept not in values or (kept != link.id and not all(map(_is_made, values[link.id]))):
        return False
    behind: dict[str, list[ast.expr]] = {name: [] for name in values}
    for one, found in reads.items():
        if (name := path_of(one)) in values and one.lineno > given.lineno:
            if found - {write} != values[name] - {write}:
                return False
            behind[name] += [one] * (one.lineno > (write.end_lineno or 0))
    written = next(name for name in values if name != kept)
    if not here and (behind[written] or not isinstance(write, (ast.Assign, ast.Return))):
        return False
    # What is only shown decides nothing.
    needed = (behind[name] for name in ((kept, written) if here else (kept,)))
    return all(any(not isinstance(source.statement(one), ast.Expr) for one in some) for some in needed)


def _is_made(definition: ast.AST) -> bool:
    """Whether a statement gives a name a result, not what a caller or an object has."""
    return isinstance(definition, ast.Assign) and not path_of(writes.shown(definition.value))


def _masks(sources: Sources, stack: Sequence[Frame]) -> bool:
    """Whether a statement writes what is the same in each pass."""
    for _, source, node in sources.nodes(stack[:1]):
        values = list(_values(source.statement(node)))
        names = (one.id for value in values for one in ast.walk(value) if isinstance(one, ast.Name))
        return bool(values) and _PLAIN.issuperset(names)
    return False


def _values(write: ast.stmt) -> Iterator[ast.expr]:
    """What a statement writes; nothing for one that is no such write."""
    match write:
        case ast.Assign([ast.Subscript()], value) | ast.AugAssign(ast.Subscript() | ast.Name(), _, value):
            yield value
        case ast.Expr(ast.Call() as call):
            for one in writes.chain(call):
                given = [*one.args, *(keyword.value for keyword in one.keywords)]
                is_fill = isinstance(one.func, ast.Attribute) and one.func.attr in _FILLS
                yield from given[-1:] if is_fill else given or [ast.Constant(0)]
