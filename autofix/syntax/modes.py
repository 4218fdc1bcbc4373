"""Contexts, decorators and flags that switch gradients off or on, as the text tells."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator

from autofix.syntax.calls import name_of, values
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import GRADIENT_MODES, WITHOUT_GRADIENT

_ON = {"set_grad_enabled": True, "inference_mode": False}
"""The flag by which a mode leaves gradients on."""
FLAG = "requires_grad"
"""The flag of a tensor."""
_LIKE = 0.8
"""How like it a name is, of 1, as `difflib` counts it: `require_grad` 0.96, `requires_gradient` 0.87."""


def is_mode(node: ast.AST) -> bool:
    """Whether an expression names or calls a mode that switches gradients off or on."""
    return name_of(node) in (*GRADIENT_MODES, "enable_grad")


def may_switch_off(node: ast.AST) -> bool:
    """Whether an expression gives a mode without gradient, or one that is without where its flag says so."""
    if not isinstance(node, ast.Call):
        return name_of(node) in WITHOUT_GRADIENT
    return name_of(node) in GRADIENT_MODES and _flag(node) is not _ON.get(name_of(node))


def switches_off(node: ast.AST) -> bool:
    """Whether an expression surely gives a mode without gradient."""
    sure = name_of(node) in WITHOUT_GRADIENT or (isinstance(node, ast.Call) and _flag(node) is False)
    return sure and may_switch_off(node)


def wraps(call: ast.Call) -> bool:
    """Whether a call gives a function back that runs without gradient: `torch.no_grad()(f)`."""
    return may_switch_off(call.func) and bool(call.args) and not isinstance(call.args[0], ast.Constant)


def _flag(call: ast.Call) -> object:
    """The constant that a mode is given; `...` where there is none."""
    given = values(call)
    return given[0].value if given and isinstance(given[0], ast.Constant) else ...


def misspelled(sources: Iterable[Source]) -> Iterator[tuple[Source, ast.Attribute]]:
    """Where a statement sets an attribute of a name much like that of the flag, in some files.

    Not where anything reads that attribute: then it is one of the user's own. `requires_grad_` is torch's method.
    """
    files = list(sources)
    others = {FLAG, *(name for source in files for name in _read(source))} - {f"{FLAG}_"}
    for source in files:
        for node in source.walk():
            match node:
                case ast.Assign([ast.Attribute(attr=name) as target]) if name not in others and _is_like_flag(name):
                    yield source, target


def _is_like_flag(name: str) -> bool:
    return bool(difflib.get_close_matches(name, [FLAG], cutoff=_LIKE))


def _read(source: Source) -> Iterator[str]:
    """The attributes that a file reads, and what it says in words, by which it may ask for one."""
    for one in source.walk():
        match one:
            case ast.Attribute(attr=str(name), ctx=ast.Load()) | ast.Constant(str(name)):
                yield name
