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


def reads_gradients(runs: Runs) -> bool:
    """Whether the edited files read the gradient of something else than what a loop goes over, or optimizers own."""
    owned = {name for names in runs.letter.names[: len(runs.letter.counts)] for name in names}
    owned |= {f".{name.rpartition('.')[2]}" for name in owned if "." in name}
    return any(_reads(parsed(path, data).tree, owned) for path, data in runs.files.items())


def _reads(tree: ast.Module, owned: set[str]) -> bool:
    nodes = list(ast.walk(tree))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    loops = [node.target for node in nodes if isinstance(node, (ast.For, ast.comprehension))]
    over = {name.id for loop in loops for name in ast.walk(loop) if isinstance(name, ast.Name)}
    read = (
        node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "grad" and id(node) not in called
    )
    return any(
        isinstance(one.ctx, ast.Load)
        and not (isinstance(one.value, ast.Name) and one.value.id in over | owned)
        and not (isinstance(one.value, ast.Attribute) and f".{one.value.attr}" in owned)
        for one in read
    )


def _names(path: Path, data: bytes) -> Counter[str]:
    return Counter(node.attr for node in ast.walk(parsed(path, data).tree) if isinstance(node, ast.Attribute))
