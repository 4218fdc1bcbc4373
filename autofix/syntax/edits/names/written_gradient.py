"""A gradient that a statement writes in place, and whether anything else reads it."""

from __future__ import annotations

import ast

from autofix.syntax.calls import name_of, path_of, within
from autofix.syntax.source import Source
from autofix.syntax.writes import written_part

_CLEARS = frozenset({"zero_"})


def unread_gradient(source: Source, statement: ast.stmt) -> str:
    """The tensor whose gradient a statement writes (`x` of `x.grad.mul_(2)`), and no other of its file mentions.

    '' where it writes none, where it only clears one, or where another statement mentions one by that name.
    """
    path = path_of(written_part(source, statement)).removesuffix(".grad")
    gradients = [one for one in source.walk() if isinstance(one, ast.Attribute) and one.attr == "grad"]
    mine = [one for one in gradients if path and path_of(one.value).rpartition(".")[2] == path.rpartition(".")[2]]
    written = any(source.statement(one) is statement and path_of(one.value) == path for one in mine)
    clears = any(name_of(one) in _CLEARS for one in within(statement))
    return path if written and not clears and all(source.statement(one) is statement for one in mine) else ""
