"""Whether an edit takes out, on purpose, what a program hooks into its gradients."""

from __future__ import annotations

import ast
from collections import Counter

from autofix.syntax.sources import parsed
from autofix.verdict.runs import Runs

_KEPT = "retain_grad"


def lets_go(runs: Runs, *, kept: bool = False) -> bool:
    """Whether the edit takes out what registers a hook, or registers it in another way.

    `kept`: whether it no longer keeps a gradient, and reads fewer of them, or makes a leaf, which has one anyway.
    """
    target = runs.case.pool.target
    files = [(parsed(path, target.read(path)), parsed(path, new)) for path, new in runs.files.items()]
    pairs = [tuple(map(_names, old.apart(new))) for old, new in files]
    gone = sum((was - new for was, new in pairs), Counter[str]())
    come = sum((new - was for was, new in pairs), Counter[str]())
    if kept:
        return bool(gone[_KEPT]) and bool(gone["grad"] or come["requires_grad_"])
    return any(name.startswith("register_") and name.endswith("hook") for name in gone)


def _names(statements: list[ast.stmt]) -> Counter[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return Counter(node.attr for node in nodes if isinstance(node, ast.Attribute))
