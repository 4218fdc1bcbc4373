"""What statements do in a training step: which belong to an update, which run once, which lead to no gradient."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.rewrite import flow, writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BELONGS = ("zero_grad", "backward", "manual_backward", "unscale_", "clip_grad_norm_", "clip_grad_value_")


def call_of(statement: ast.stmt) -> ast.expr | None:
    return statement.value if isinstance(statement, ast.Expr) else None


def method(statement: ast.stmt) -> str:
    """The last name of the function that a statement calls."""
    value = call_of(statement)
    return ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""


def leads_to_step(statement: ast.stmt) -> bool:
    """Whether a statement before a step is part of the same update."""
    name = method(statement)
    return name in _BELONGS or "backward" in name


def trains(statement: ast.stmt) -> bool:
    """Whether a statement itself runs a backward or a step, which must happen once."""
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in (*_BELONGS, "step") for call in calls)


def calls(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(statement))


def has_no_gradient(statement: ast.stmt) -> bool:
    """Whether a statement only makes a value through which no gradient flows, so that it may stay as it was."""
    if writes.without_gradient(statement):
        return True
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in ("detach", "item", "tolist")


def bound(statements: Sequence[ast.stmt]) -> set[str]:
    return {name for one in statements for name in flow.binds(one)}


def runs(statements: Sequence[ast.stmt], moved: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The moved statements in groups of neighbours."""
    run: list[ast.stmt] = []
    for one in statements:
        if one in moved:
            run.append(one)
        elif run:
            yield run
            run = []
    if run:
        yield run
