"""Finds the finders, with nothing to register, and says which of them a word means, or a comment silences."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from autofix.check.finder import Finder
from autofix.core.kinds import kinds

_IGNORE = re.compile(r"#\s*autofix:\s*ignore(?:\[([^\]]*)\])?")


class Pattern(Protocol):
    """What has a code and a name: a rule, a finder, a suspicion."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...


P = TypeVar("P", bound=Pattern)


@functools.cache
def finders() -> tuple[Finder, ...]:
    """All finders, by code; every module of `autofix.check.finders` that defines one."""
    return tuple(sorted(kinds("autofix.check.finders", Finder), key=lambda finder: finder.code))


def among(patterns: Iterable[P], chosen: Collection[str], ignored: Collection[str]) -> tuple[P, ...]:
    """Those that are chosen (all without a choice) and not ignored, by code, start of a code, or name."""
    return tuple(
        one
        for one in patterns
        if (not chosen or any(named(one, key) for key in chosen)) and not any(named(one, key) for key in ignored)
    )


def named(pattern: Pattern, key: str) -> bool:
    """Whether something is called `key`: its name, its code, or the start of its code."""
    return pattern.name == key.lower() or (key.upper().startswith("AG") and pattern.code.startswith(key.upper()))


def silenced(pattern: Pattern, comment: str) -> bool:
    """Whether a comment such as `# autofix: ignore[AG501]` is about something, by its code or name, or about all."""
    found = _IGNORE.search(comment)
    words = {word.strip() for word in (found[1] or "").split(",")} - {""} if found is not None else None
    return words is not None and (not words or bool({pattern.code, pattern.name} & words))
