"""Keyword arguments of a call, added, changed and removed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.edit import Declined, Edit
from autofix.rewrite.apply import edit
from autofix.rewrite.expressions import replace
from autofix.rewrite.layout import newline_near
from autofix.rewrite.parentheses import editable, in_call_parentheses, outer
from autofix.rewrite.tokens import tokens_of

if TYPE_CHECKING:
    from autofix.source import Source


def set_keyword(source: Source, call: ast.Call, name: str, value: str, *, position: int | None = None) -> list[Edit]:
    """Give a keyword argument a value; `position` says where it may also stand without its name."""
    editable(source, call)
    for keyword in call.keywords:
        if keyword.arg == name:
            return replace(source, keyword.value, value)
    if any(keyword.arg is None and _may_hold(keyword.value, name) for keyword in call.keywords):
        raise Declined(f"{name} may be among its ** arguments")
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise Declined(f"{name} may be among its * arguments")
    if position is not None and position < len(call.args):
        return replace(source, call.args[position], value)
    return _add(source, call, f"{name}={value}")


def remove_keyword(source: Source, call: ast.Call, name: str) -> list[Edit]:
    """Remove a keyword argument with its comma, and its line where it had one to itself."""
    editable(source, call)
    keyword = next((keyword for keyword in call.keywords if keyword.arg == name), None)
    if keyword is None:
        raise Declined(f"it has no argument {name}")
    tokens = tokens_of(source)
    start, end = source.extent(keyword)
    before, after = tokens.before(start), tokens.after(end)
    if before is None or after is None:
        raise Declined("its call was not found")
    comma = after.end if after.text == "," else end
    line_start, line_end = _whole_lines(source, start, comma)
    if line_start < line_end and before.end <= line_start:
        return [edit(source, line_start, line_end, "")]
    if before.text == "," and not tokens.comment_between(before.start, start):
        return [edit(source, before.start, end, "")]
    following = tokens.after(comma)
    if after.text == "," and following and not _crosses_line(source, comma, following.start):
        return [edit(source, start, following.start, "")]
    return [edit(source, start, comma, "")]


def _may_hold(mapping: ast.expr, name: str) -> bool:
    """Whether what follows `**` can contain a name; only a literal with other names surely does not."""
    match mapping:
        case ast.Dict(keys=keys):
            names = [key.value if isinstance(key, ast.Constant) else name for key in keys]
            return name in names
    return True


def _add(source: Source, call: ast.Call, argument: str) -> list[Edit]:
    tokens = tokens_of(source)
    close = source.extent(call)[1] - 1
    arguments = sorted([*call.args, *call.keywords], key=source.extent)
    if not arguments:
        opening = tokens.partner[close] + 1
        return [edit(source, opening, opening, argument)]
    last = arguments[-1]
    start, end = _with_stars(source, last)
    if in_call_parentheses(source, last):
        return [edit(source, start, start, "("), edit(source, end, end, f", {argument})")]
    comma = tokens.after(end)
    if comma and comma.text == "," and _crosses_line(source, comma.end, close):
        line_start = source.starts[source.position(source.data_offset(start))[0] - 1]
        indent = source.text[line_start:start]
        newline = tokens.newline_after(comma.end)
        if newline and not indent.strip(" \t"):
            text = f"{indent}{argument},{newline_near(source, comma.end)}"
            return [edit(source, newline.end, newline.end, text)]
    return [edit(source, end, end, f", {argument}")]


def _with_stars(source: Source, argument: ast.AST) -> tuple[int, int]:
    """An argument's extent with the parentheses that are its own."""
    return source.extent(argument) if isinstance(argument, ast.keyword) else outer(source, argument)


def _crosses_line(source: Source, start: int, end: int) -> bool:
    return tokens_of(source).newline_between(start, end)


def _whole_lines(source: Source, start: int, end: int) -> tuple[int, int]:
    """The extent of the lines that hold only this argument and comments; empty where there are none."""
    tokens = tokens_of(source)
    first, last = tokens.newline_before(start), tokens.newline_after(end)
    before, after = tokens.before(start), tokens.after(end)
    if first is None or last is None or before is None or after is None:
        return start, start
    if before.end > first.start or after.start < last.start:
        return start, start
    return first.end, last.end
