"""Gives a variable other values, in the code and in an edit of it alike: what a part does with them may show then."""

from __future__ import annotations

import ast
import itertools
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autofix.syntax.calls import Function
from autofix.verdict.parts.pieces import spliced

_MOST = 3
"""Variables that are tried."""
_OTHER = "({}) + 0.37"


class Otherwise(NamedTuple):
    """The texts of a file: of the code, the edit, the edit without a part, and the code without what that removes."""

    old: bytes
    new: bytes
    without: bytes
    gone: bytes


def otherwise(texts: Otherwise, part: bytes) -> Iterator[Otherwise]:
    """For each variable that a part has and to which all texts give its value alike: them with another one.

    `part` is the text of a statement or an expression.
    """
    trees = [ast.parse(text) for text in texts]
    found = (_given_alike(name, trees) for name in _names(part))
    for places in itertools.islice(filter(None, found), _MOST):
        moved = (spliced(text, *_moved(text, at)) for text, at in zip(texts, places, strict=True))
        yield Otherwise(*moved)


def _moved(text: bytes, value: ast.expr) -> tuple[ast.expr, bytes]:
    return value, _OTHER.format(ast.get_source_segment(text.decode(), value)).encode()


def _names(part: bytes) -> dict[str, None]:
    """The variables in a part, in the order of the text."""
    try:
        tree = ast.parse(textwrap.dedent(part.decode()).strip())
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
