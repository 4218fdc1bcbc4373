"""Finds the rules: every module of `autofix.rules` that defines a subclass of `Rule`, with nothing to register."""

from __future__ import annotations

import functools

from autofix.audit.fault import Fault, faults
from autofix.check.finder import Finder
from autofix.check.known import among, finders, named
from autofix.core.kinds import kinds
from autofix.search.rule import Rule


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All rules, by code."""
    found = kinds("autofix.rules", Rule)  # type: ignore[type-abstract]  # only subclasses are made
    return tuple(sorted(found, key=lambda rule: rule.code))


def select(chosen: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules that are chosen (all without a choice) and not ignored, by code, start of a code, or name.

    Raises ValueError for what nothing is called, and for a choice of what is only found.
    """
    for key in (*chosen, *ignored):
        meant = next((one for one in everything() if named(one, key)), None)  # the rules come first
        if meant is None:
            raise ValueError(f"nothing is called {key}; `autofix rules` lists every code and name")
        if key in chosen and not isinstance(meant, Rule):
            command = "audit" if isinstance(meant, Fault) else "check"
            said = f"{meant.code} {meant.name} is no rule: `autofix {command} --select {meant.code}` looks for it"
            raise ValueError(said)
    return among(rules(), chosen, ignored)


def everything() -> list[Rule | Finder | Fault]:
    """The rules, the finders of what no rule repairs, and what only an audit finds: every code and name once."""
    return [*rules(), *found_only(), *faults()]


def found_only() -> tuple[Finder, ...]:
    """The finders of what no rule repairs."""
    repaired = {rule.code for rule in rules()}
    return tuple(finder for finder in finders() if finder.code not in repaired)
