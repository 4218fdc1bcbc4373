"""Taking statements out of the block that holds them, such as a `with torch.no_grad():`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.edit import Declined, Edit
from autofix.rewrite.apply import edit
from autofix.rewrite.layout import run_of, shifted, start_of

if TYPE_CHECKING:
    import ast

    from autofix.source import Source


def unwrap(source: Source, statement: ast.With | ast.AsyncWith) -> list[Edit]:
    """Replace a `with` of one context by its body, one step to the left."""
    if len(statement.items) != 1:
        raise Declined("other contexts share its `with`")
    outer, body = run_of(source, [statement]), run_of(source, statement.body)
    if not body.leads or not outer.leads:
        return [edit(source, outer.start, body.start, "")]
    edits = [edit(source, outer.line_start, body.line_start, "")]
    changes = shifted(source, body.line_start, body.line_end[0], body.indent, outer.indent)
    return [*edits, *(edit(source, first, last, text) for first, last, text in changes)]


def undecorate(source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr) -> list[Edit]:
    """Remove a decorator with its line."""
    if decorator not in function.decorator_list:
        raise Declined("it is no decorator of this function")
    following = [*function.decorator_list[function.decorator_list.index(decorator) + 1 :], None][0]
    line = following.lineno if following is not None else function.lineno
    start, end = source.starts[decorator.lineno - 1], source.starts[line - 1]
    if start_of(source, function) < start and not source.text[start:end].strip().startswith("@"):
        raise Declined("the decorator does not stand on lines of its own")
    return [edit(source, start, end, "")]
