"""Finds the rules: every module of `autofix.rules` that defines a subclass of `Rule`, with nothing to register."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from autofix.audit.fault import Fault, faults
from autofix.check.known import finders, named
from autofix.core.kinds import kinds
from autofix.search.rule import Rule

if TYPE_CHECKING:
    from autofix.check.finder import Finder


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All rules, by code."""
    found = kinds("autofix.rules", Rule)  # type: ignore[type-abstract]  # only subclasses are made
    return tuple(sorted(found, key=lambda rule: rule.code))


def select(chosen: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules that are chosen (all without a choice) and not ignored, by code, start of a code, or name.

    Raises ValueError for what nothing is called, and for a choice of what is only found.
    """
    patterns = everything()
    for key in (*chosen, *ignored):
        if not any(named(one, key) for one in patterns):
            raise ValueError(f"nothing is called {key}; `autofix rules` lists every code and name")
    for key in chosen:
        if not any(named(rule, key) for rule in rules()):
            found = next(one for one in everything() if named(one, key))
            command = "audit" if isinstance(found, Fault) else "check"
            said = f"{found.code} {found.name} is no rule: `autofix {command} --select {found.code}` looks for it"
            raise ValueError(said)
    return tuple(
        rule
        for rule in rules()
        if (not chosen or any(named(rule, key) for key in chosen)) and not any(named(rule, key) for key in ignored)
    )


def everything() -> list[Rule | Finder | Fault]:
    """The rules, the finders of what no rule repairs, and what only an audit finds: every code and name once."""
    return [*rules(), *found_only(), *faults()]


def found_only() -> tuple[Finder, ...]:
    """The finders of what no rule repairs."""
    repaired = {rule.code for rule in rules()}
    return tuple(finder for finder in finders() if finder.code not in repaired)
