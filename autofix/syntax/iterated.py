"""Loops that hand what a call gives back to it, and nothing else that is new: a solver's, up to a fixed point."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.syntax.calls import path_of


def iterations(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Each variable that a loop in `node` computes from itself by a call, and that call."""
    for loop in ast.walk(node):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        assigned = [(path_of(one.targets[0]), one.value) for one in loop.body if isinstance(one, ast.Assign)]
        made = {name: value for name, value in assigned if name}
        own = {path_of(one) for one in ast.walk(loop.target)} if isinstance(loop, ast.For) else set()
        for name, value in made.items():
            step = made.get(path_of(value), value)
            others = own | made.keys() - {name, path_of(value)}
            if isinstance(step, ast.Call) and _reads(step, {name}) and not _reads(step, others):
                yield name, step


def _reads(node: ast.AST, names: set[str]) -> bool:
    return any(path_of(one) in names for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute)))
