"""Finds the finders, with nothing to register, and says which of them a word means."""

from __future__ import annotations

import functools
from typing import Protocol

from autofix.check.finder import Finder
from autofix.core.kinds import kinds


class Pattern(Protocol):
    """What has a code and a name: a rule, a finder, a suspicion."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...


@functools.cache
def finders() -> tuple[Finder, ...]:
    """All finders, by code; every module of `autofix.check.finders` that defines one."""
    return tuple(sorted(kinds("autofix.check.finders", Finder), key=lambda finder: finder.code))


def named(pattern: Pattern, key: str) -> bool:
    """Whether something is called `key`: its name, its code, or the start of its code."""
    return pattern.name == key.lower() or (key.upper().startswith("AG") and pattern.code.startswith(key.upper()))
