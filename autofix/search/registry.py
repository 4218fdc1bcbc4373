"""Finds the rules: every module of `autofix.rules` that defines a subclass of `Rule`, with nothing to register."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from autofix.search.rule import Rule


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All rules, by code."""
    package = importlib.import_module("autofix.rules")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"autofix.rules.{module.name}")
    kinds = (kind for kind in Rule.__subclasses__() if kind.__module__.startswith(package.__name__))
    return tuple(sorted((kind() for kind in kinds), key=lambda rule: rule.code))


def select(chosen: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules whose code or name is chosen (all without a choice) and not ignored; ValueError for an unknown one."""
    known = {key for rule in rules() for key in (rule.code, rule.name)}
    for key in (*chosen, *ignored):
        if key not in known:
            message = f"no such rule: {key}; `autofix rules` lists them"
            raise ValueError(message)
    return tuple(
        rule
        for rule in rules()
        if (not chosen or {rule.code, rule.name} & set(chosen)) and not {rule.code, rule.name} & set(ignored)
    )
