"""Keyword arguments of a call, added, changed and removed."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from autofix.core.edit import Declined
from autofix.syntax.edits.expressions import change, expression, replace
from autofix.syntax.edits.steps import Step
from autofix.syntax.edits.unit import Guard
from autofix.syntax.source import Source

_NOTHING, _SPACE = cst.SimpleWhitespace(""), cst.SimpleWhitespace(" ")


def set_keyword(  # noqa: PLR0913  two of them say only where it may stand
    source: Source, call: ast.Call, name: str, value: str, *, position: int | None = None, before: str = ""
) -> list[Step]:
    """Give a keyword argument a value.

    `position`: where among the arguments it may stand bare. `before`: the keyword that a new one goes before.
    """
    for keyword in call.keywords:
        if keyword.arg == name:
            return replace(source, keyword.value, value)
    if any(keyword.arg is None and _may_hold(keyword.value, name) for keyword in call.keywords):
        raise Declined(f"{name} may be given by its ** arguments")
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        raise Declined(f"{name} may be given by its * arguments")
    if position is not None and position < len(call.args):
        return replace(source, call.args[position], value)
    new = cst.Arg(expression(source, call, value), cst.Name(name), equal=cst.AssignEqual(_NOTHING, _NOTHING))

    def make(old: cst.Call, guard: Guard) -> cst.Call:
        for place, argument in enumerate(old.args):
            if before and argument.keyword is not None and argument.keyword.value == before:
                between = new.with_changes(comma=cst.Comma(whitespace_after=_SPACE))
                return old.with_changes(args=[*old.args[:place], between, *old.args[place:]])
        return _added(old, new, guard)

    return change(source, call, f"{name}={value}", make)


def remove_keyword(source: Source, call: ast.Call, name: str) -> list[Step]:
    """Remove a keyword argument with its comma, and its line where it had one to itself."""
    if not any(keyword.arg == name for keyword in call.keywords):
        raise Declined(f"it has no argument {name}")
    return change(source, call, f"without {name}", lambda old, _: _removed(old, name))


def functional_call(source: Source, call: ast.Call, torch: str, mapping: str) -> list[Step]:
    """A call of a module as one that takes its parameters from a mapping."""
    if any(word.arg is None for word in call.keywords):
        raise Declined("the module gets its arguments from a mapping")
    given = [source.segment(one) for one in call.args]
    positional = f"({', '.join(given)}{',' * (len(given) == 1)})"
    named = ", ".join(f'"{word.arg}": {source.segment(word.value)}' for word in call.keywords)
    module = source.segment(call.func).removesuffix(".forward")
    words = f", {{{named}}}" if named else ""
    return replace(source, call, f"{torch}.func.functional_call({module}, {mapping}, {positional}{words})")


def _may_hold(mapping: ast.expr, name: str) -> bool:
    """Whether what follows `**` can contain a name; only a literal with other names surely does not."""
    match mapping:
        case ast.Dict(keys=keys):
            names = [key.value if isinstance(key, ast.Constant) else name for key in keys]
            return name in names
    return True


def _added(call: cst.Call, new: cst.Arg, guard: Guard) -> cst.Call:
    if not call.args:
        space = call.whitespace_before_args
        return call.with_changes(args=[new.with_changes(whitespace_after_arg=space)], whitespace_before_args=_NOTHING)
    *others, last = call.args
    if isinstance(last.value, cst.GeneratorExp):
        last = last.with_changes(value=guard(last.value))
    after: Any = getattr(last.comma, "whitespace_after", None)
    if isinstance(after, cst.ParenthesizedWhitespace) and _begins_line(call, last):
        # Its own line, like the one before: what follows the old last argument on its line stays there.
        before = others[-1].comma.whitespace_after if others else call.whitespace_before_args  # type: ignore[union-attr]
        lead = cst.ensure_type(before, cst.ParenthesizedWhitespace)
        line = cst.ParenthesizedWhitespace(after.first_line, indent=lead.indent, last_line=lead.last_line)
        plain = cst.TrailingWhitespace(newline=after.first_line.newline)
        new = new.with_changes(comma=cst.Comma(whitespace_after=after.with_changes(first_line=plain)))
        return call.with_changes(args=[*others, last.with_changes(comma=cst.Comma(whitespace_after=line)), new])
    new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    last = last.with_changes(comma=cst.Comma(whitespace_after=_SPACE), whitespace_after_arg=_NOTHING)
    return call.with_changes(args=[*others, last, new])


def _begins_line(call: cst.Call, last: cst.Arg) -> bool:
    place = len(call.args) - 1
    before = call.args[place - 1].comma.whitespace_after if place else call.whitespace_before_args  # type: ignore[union-attr]
    return isinstance(before, cst.ParenthesizedWhitespace) and last is call.args[-1]


def _removed(call: cst.Call, name: str) -> cst.Call:
    place = next(at for at, one in enumerate(call.args) if one.keyword is not None and one.keyword.value == name)
    before, gone, after = call.args[:place], call.args[place], call.args[place + 1 :]
    if after:
        return call.with_changes(args=[*before, *after])
    if not before:
        return call.with_changes(args=[], whitespace_before_args=_NOTHING)
    last = before[-1]
    closing: Any = gone.whitespace_after_arg
    if isinstance(gone.comma, cst.Comma):
        closing = gone.comma.whitespace_after
    space: Any = last.comma.whitespace_after  # type: ignore[union-attr]
    if isinstance(space, cst.ParenthesizedWhitespace) and space.first_line.comment is not None:
        # A comment behind the comma needs the line that it ends.
        end = closing.last_line if isinstance(closing, cst.ParenthesizedWhitespace) else _NOTHING
        line = space.with_changes(last_line=end)
        return call.with_changes(args=[*before[:-1], last.with_changes(comma=cst.Comma(whitespace_after=line))])
    last = last.with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
    return call.with_changes(args=[*before[:-1], last])
