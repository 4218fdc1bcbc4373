"""Gives a variable other values, in the code and in an edit of it alike: what a part does with them may show then."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from autofix.syntax.apply import apply
from autofix.syntax.calls import Function
from autofix.syntax.edits import rendered, replace
from autofix.syntax.source import Source

_MOST = 3
"""Variables that are tried."""
_OTHER = "({}) + 0.37"


class Otherwise(NamedTuple):
    """The texts of a file: of the code, the edit, the edit without a part, and the code without what that removes."""

    old: bytes
    new: bytes
    without: bytes
    gone: bytes


def otherwise(path: Path, texts: Otherwise, part: bytes) -> Iterator[Otherwise]:
    """For each variable that a part has and to which all texts give its value alike: them with another one.

    `part` is the text of a statement or an expression.
    """
    sources = [Source(path, text) for text in texts]
    found = (_given_alike(name, [one.tree for one in sources]) for name in _names(part.decode(sources[0].encoding)))
    for places in itertools.islice(filter(None, found), _MOST):
        yield Otherwise(*itertools.starmap(_moved, zip(sources, places, strict=True)))


def _moved(source: Source, value: ast.expr) -> bytes:
    return apply(source, rendered(replace(source, value, _OTHER.format(source.segment(value)))))


def _names(part: str) -> dict[str, None]:
    """The variables in a part, in the order of the text."""
    try:
        tree = ast.parse(textwrap.dedent(part).strip())
    except SyntaxError:
        return {}
    return {node.id: None for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _given_alike(name: str, trees: Sequence[ast.Module]) -> list[ast.expr]:
    """Where each text computes the value of a variable, the one that the old text gives it once; [] if not all do."""
    found = [_values(tree, name) for tree in trees]
    if [*map(len, found[0].values())] != [1]:
        return []
    ((key, [value]),) = found[0].items()
    alike = [[one for one in values.get(key, ()) if ast.dump(one) == ast.dump(value)] for values in found]
    return [several[0] for several in alike] if all(len(several) == 1 for several in alike) else []


def _values(tree: ast.Module, name: str) -> dict[str, list[ast.expr]]:
    """What a variable is assigned as a whole, by the function in which it is."""
    found: dict[str, list[ast.expr]] = {}
    inner = [(node.name, node) for node in ast.walk(tree) if isinstance(node, Function)]
    scopes: list[tuple[str, ast.AST]] = [("", tree), *inner]
    for scope, inside in scopes:
        for node in _own(inside):
            match node:
                case ast.Assign([ast.Name(bound)], value) if bound == name:
                    found.setdefault(scope, []).append(value)
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, but for what stands in functions and classes within it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            yield from _own(node)
