"""A flag that is set under a name which torch does not know: where, and how it is spelled."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable

from autofix.syntax.edits.expressions import rename
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

_FLAG = "requires_grad"
_LIKE = 0.8
"""How like the flag a name is, of 1, as `difflib` counts it: `require_grad` 0.96, `requires_gradient` 0.87."""


def misspelled_flags(sources: Iterable[Source]) -> dict[Source, list[Step]]:
    """By their files, the steps by which statements set `requires_grad` that set an attribute of a name much like it.

    Not where anything reads that attribute: then it is one of the user's own. `requires_grad_` is torch's method.
    """
    read = list(sources)
    known = {name for source in read for name in _read(source)} - {f"{_FLAG}_"}
    found: dict[Source, list[Step]] = {}
    for source in read:
        for node in source.walk():
            match node:
                case ast.Assign([ast.Attribute(attr=name) as target]) if name not in (
                    _FLAG,
                    *known,
                ) and difflib.get_close_matches(name, [_FLAG], cutoff=_LIKE):
                    found.setdefault(source, []).extend(rename(source, target, _FLAG))
    return found


def _read(source: Source) -> set[str]:
    """The attributes that a file reads, and the names that it asks for in words."""
    nodes = list(source.walk())
    loaded = {one.attr for one in nodes if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load)}
    return loaded | {one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)}
