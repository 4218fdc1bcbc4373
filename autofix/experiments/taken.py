"""The numbers that a program takes of tensors, as scores and choices: where an edited run takes others."""

from __future__ import annotations

import math
from pathlib import Path

from autofix.experiments.compare import comparable
from autofix.probe import wire

_SAME, _BESIDE = 1e-3, 1e-5
"""By which part of itself, and of the largest one there, a number may differ by rounding."""


def line_of(site: str) -> str:
    """The line of a site."""
    file, _, line = site.partition("|")[0].split(":")
    return f"{file}:{line}"


def taken_otherwise(code: wire.Trace, edited: wire.Trace) -> str:
    """The first place of the code at which another number is taken in an edited run; '' where there is none."""
    if comparable(code) or not edited.ended_well or set(code.drawn_at) != set(edited.drawn_at):
        return ""
    got = _by_site(edited)
    tried = {f"{Path(frame.file).name}:{frame.line}" for done in code.performed for frame in done.stack[:1]}
    places = ((site, calls) for site, calls in _by_site(code).items() if line_of(site) not in tried)
    return next((site for site, calls in places if _takes_others(calls, got.get(site, []))), "")


def _by_site(trace: wire.Trace) -> dict[str, list[wire.Taken]]:
    found: dict[str, list[wire.Taken]] = {}
    for one in trace.taken:
        found.setdefault(one.site, []).append(one)
    return found


def _takes_others(want: list[wire.Taken], have: list[wire.Taken]) -> bool:
    """Whether the calls of a line take other numbers in an edited run.

    What has a graph in one run alone is heard in the other only: each call of the run with fewer has one like it there.
    """
    differ = [[any(differing(one.values, other.values)) for other in have] for one in want]
    if len(want) == len(have):
        return any(row[number] for number, row in enumerate(differ))
    return any(map(all, differ if len(want) < len(have) else zip(*differ, strict=True)))


def differing(want: tuple[float, ...], have: tuple[float, ...]) -> list[bool]:
    """Of each number that two runs take at a call, whether it is another by more than rounding."""
    known = _BESIDE * max(map(abs, filter(math.isfinite, want)), default=0.0)
    pairs = zip(want, have, strict=False)
    return [math.isfinite(a) and not math.isclose(a, b, rel_tol=_SAME, abs_tol=known) for a, b in pairs]
