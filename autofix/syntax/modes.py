"""Contexts and decorators that switch gradients off, as the text tells."""

from __future__ import annotations

import ast

from autofix.syntax.calls import name_of
from autofix.syntax.vocabulary import GRADIENT_MODES, WITHOUT_GRADIENT

_ON = {"set_grad_enabled": True, "inference_mode": False}
"""The flag by which a mode leaves gradients on."""


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
    given = [*call.args, *(word.value for word in call.keywords)]
    return given[0].value if given and isinstance(given[0], ast.Constant) else ...
