"""Whether an edit takes out, on purpose, what a program hooks into its gradients."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from autofix.syntax.sources import parsed
from autofix.verdict.runs import Runs

_KEPT = "retain_grad"


def lets_go(runs: Runs, *, kept: bool = False) -> bool:
    """Whether the edit takes out what registers a hook, or registers it in another way.

    `kept`: whether it no longer keeps a gradient, and reads fewer of them, or makes a leaf, which has one anyway.
    """
    old = (runs.case.pool.target.read(path) for path in runs.files)
    pairs = [(_names(path, was), _names(path, new)) for was, (path, new) in zip(old, runs.files.items(), strict=True)]
    gone = sum((was - new for was, new in pairs), Counter[str]())
    come = sum((new - was for was, new in pairs), Counter[str]())
    if kept:
        return bool(gone[_KEPT]) and bool(gone["grad"] or come["requires_grad_"])
    return any(name.startswith("register_") and name.endswith("hook") for name in gone)


def _names(path: Path, data: bytes) -> Counter[str]:
    return Counter(node.attr for node in ast.walk(parsed(path, data).tree) if isinstance(node, ast.Attribute))
