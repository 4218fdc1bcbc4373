"""Which of several edits comes first, and which need not be shown or tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.model import Applicability, Effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autofix.model import Candidate, Fix

_COSTLY = 1.25
"""From this many times the least peak memory on, an edit comes after its equals: below it is noise."""


def ordered(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """Best first; of equals those that do not take much more memory, then the smaller diff before the larger."""
    least: dict[tuple[object, ...], int] = {}
    for fix in fixes:
        key = preference(fix)
        least[key] = min(fix.verdict.peak_bytes, least.get(key, fix.verdict.peak_bytes))

    def full(fix: Fix) -> tuple[object, ...]:
        key = preference(fix)
        return (*key, fix.verdict.peak_bytes > _COSTLY * least[key], len(fix.diff))

    return tuple(sorted(fixes, key=full))


def preference(fix: Fix) -> tuple[object, ...]:
    """What decides first between edits: safe before unsafe, fewest doubts, the idiom before the patch."""
    verdict = fix.verdict
    changed = verdict.effect is Effect.CHANGED and not (verdict.reading and verdict.reading.separated)
    return (
        verdict.applicability is not Applicability.SAFE,
        any(change.candidate == 0 < change.reference for change in verdict.changes),
        2 * changed + sum(1 if one.property == "shared-across-passes" else 2 for one in verdict.findings),
        len(fix.candidate.rules),
        fix.candidate.rank,
    )


def telling(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The fixes, best first, without those that only add edits to a better one and meet none of its doubts."""
    kept: list[Fix] = []
    for fix in fixes:
        if not any(_lines(better) < _lines(fix) and _doubts(better) <= _doubts(fix) for better in kept):
            kept.append(fix)
    return tuple(kept)


def still_worth_a_run(queue: Sequence[Candidate], passed: Sequence[Fix]) -> list[Candidate]:
    """What is left to try when a safe edit is known: better idioms, and one of each rule to show."""
    best = min(fix.candidate.rank for fix in passed if fix.verdict.applicability is Applicability.SAFE)
    seen = {fix.candidate.rules for fix in passed}
    kept = []
    for candidate in queue:
        if candidate.rank < best or candidate.rules not in seen:
            kept.append(candidate)
            seen.add(candidate.rules)
    return kept


def _doubts(fix: Fix) -> frozenset[str]:
    return frozenset(finding.property for finding in fix.verdict.findings)


def _lines(fix: Fix) -> frozenset[bytes]:
    return frozenset(line for line in fix.diff.splitlines() if line[:1] in (b"+", b"-"))
