"""Statements moved to another place, re-indented for it, their strings and comments untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.edit import Declined, Edit
from autofix.rewrite.layout import Run, is_compound, newline_near, run_of, shifted
from autofix.rewrite.statements import is_fixed, place_after, place_before, remove

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from autofix.source import Source


def move_after(source: Source, statements: Sequence[ast.stmt], anchor: ast.stmt) -> list[Edit]:
    """Move neighbouring statements to just after another one, into its block."""
    run, target = _both(source, statements, anchor)
    if run.block is target.block and run.first == target.last + 1:
        return []
    return [*remove(run), *place_after(target, _text(run, target), _inline(run))]


def move_before(source: Source, statements: Sequence[ast.stmt], anchor: ast.stmt) -> list[Edit]:
    """Move neighbouring statements to just before another one, into its block."""
    run, target = _both(source, statements, anchor)
    if is_fixed(target):
        raise Declined("a docstring or __future__ import must stay first")
    if run.block is target.block and run.last == target.first - 1:
        return []
    return [*remove(run), *place_before(target, _text(run, target), _inline(run))]


def _both(source: Source, statements: Sequence[ast.stmt], anchor: ast.stmt) -> tuple[Run, Run]:
    run, target = run_of(source, list(statements)), run_of(source, [anchor])
    if is_fixed(run):
        raise Declined("a docstring or __future__ import must stay first")
    inside: ast.AST | None = anchor
    while inside is not None:
        if any(inside is statement for statement in statements):
            raise Declined("a statement cannot move into itself")
        inside = source.parent(inside)
    return run, target


def _text(run: Run, target: Run) -> str:
    """The moved statements as lines of their new block."""
    newline = newline_near(run.source, run.start)
    if not run.leads or run.next_start is not None:
        lines = [run.source.segment(statement) for statement in run.statements]
        return "".join(f"{target.indent}{line}{newline}" for line in lines)
    start, end = run.line_start, run.line_end[0]
    pieces, done = [], start
    for first, last, text in shifted(run.source, start, end, run.indent, target.indent):
        pieces += [run.source.text[done:first], text]
        done = last
    return "".join([*pieces, run.source.text[done:end], newline])


def _inline(run: Run) -> str | None:
    """The moved statements for a line shared with others, if they fit on one."""
    start, end = run.start, run.end
    if run.tokens.newline_between(start, end) or any(map(is_compound, run.statements)):
        return None
    if run.leads and run.next_start is None and run.tokens.comment_between(start, run.line_end[0]):
        return None  # its comment comes along, and needs the end of a line
    return "; ".join(run.source.segment(node) for node in run.statements)
