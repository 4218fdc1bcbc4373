"""Which of several edits comes first, and which need not be shown or tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from autofix.core.model import Applicability, Candidate, Effect, Fix, Question, Refused, Treatment, Verdict
from autofix.experiments.losses import same_in_turn
from autofix.verdict.wording import other_draws

_EFFECTS = list(Effect)
_EITHER_WAY = ("shared-across-passes",)
_UNUSUAL = (
    "range-is-left", "loss-trains-its-target", "weight-is-trained", "gradient-sent-twice", "graph-older-than-update",
    "collected-values-are-one-memory", "leaf-loses-its-name", "sample-keeps-its-graph", "write-outlasts-pass",
    "parameter-is-unreachable", "memory-is-trained-in-part",
)  # fmt: skip
"""Findings that say that another edit is usually meant: one that trains otherwise and has no doubt comes before."""
_ASKED_FOR = {"write-outlasts-pass": "write-is-lost"}
"""Findings on one edit that ask for what is found of another: what is meant for one pass is lost behind it."""
_STARVED = ("switched-off-for-what-is-owned",)
"""Findings that say of an edit that something owned would never learn."""
_DOUBT = 4
"""What a finding counts."""
_COSTLY = 1.25
"""From this many times the least peak memory on, an edit comes after its equals: below it is noise."""


class Key(NamedTuple):
    """What decides between two edits that run, the first that differs; smaller is better."""

    unsafe: bool
    starves: bool
    """A parameter loses all of its gradient, or never gets one."""
    beside: bool
    """It answers nothing of what is asked, where others do, and is not what the field does without a doubt."""
    doubts: int
    """What was found, and whether gradients change; half as much where it may be meant either way.

    A little less, too, where other random numbers may be all that changes them: nobody can tell then.
    """
    rhythm: bool
    """Steps are gone or stand behind other backwards: less is left of what the code says than of a gradient alone."""
    effect: int
    chain: int
    """How many rules had to follow each other."""
    idiom: tuple[int, ...]
    costly: bool
    size: int


def ordered(fixes: Sequence[Fix], answers: Sequence[Fix] = ()) -> tuple[Fix, ...]:
    """Best first: see `Key`. `answers`: those that answer what is asked."""
    least: dict[Key, int] = {}
    mine = set(map(id, answers))
    seen = {one.property for fix in fixes for one in fix.verdict.findings}
    wanted = {other for one, other in _ASKED_FOR.items() if one in seen}
    for fix in fixes:
        alike = _key(fix)._replace(size=0)
        least[alike] = min(fix.verdict.peak_bytes, least.get(alike, fix.verdict.peak_bytes))

    def key(fix: Fix) -> Key:
        found = _key(fix, _COSTLY * least[_key(fix)._replace(size=0)])
        vain = _DOUBT * sum(one.property in wanted for one in fix.verdict.findings)
        beside = bool(mine) and id(fix) not in mine and not _usual(fix)
        return found._replace(beside=beside, doubts=found.doubts - vain)

    return tuple(sorted(fixes, key=key))


def with_answers_first(fixes: Sequence[Fix], question: Question) -> tuple[tuple[Fix, ...], Question]:
    """The fixes in their order beside what is asked, and the question with the places that its answers then have."""
    offered = [fixes[one.offer] if one.offer is not None else None for one in question.answers]
    found = ordered(fixes, [fix for fix in offered if fix is not None])
    places = (found.index(fix) if fix is not None else None for fix in offered)
    pairs = zip(question.answers, places, strict=True)
    return found, replace(question, answers=tuple(replace(one, offer=place) for one, place in pairs))


def _key(fix: Fix, bytes_of_equals: float = math.inf) -> Key:
    """`bytes_of_equals`: the peak memory from which on this one is costly beside those that are alike in all else."""
    verdict = fix.verdict
    # Where each step uses its own loss alone, a target is a constant, an input stays, a pass begins with its start,
    # a name keeps its value or records are emptied together, gradients change as they were hardly meant.
    reading = verdict.reading
    usual = reading is not None and any((
        reading.separated, reading.apart, reading.targets, reading.input_kept, reading.begun, reading.copied,
        reading.at_once, reading.emptied,
    ))  # fmt: skip
    # Where an old name keeps its value, what is gone may be the gradient of an earlier pass that had written to it.
    # Where a network is kept out of another one's loss, it is what that sent.
    spared = reading is not None and bool(reading.copied or reading.apart)
    # What departs from all that the code may mean stands behind what equals a meaning that it hardly has.
    departs = verdict.effect is Effect.UNKNOWN and bool(verdict.changes)
    changed = (verdict.effect is Effect.CHANGED or departs) and not usual
    doubts = (2 if fix.candidate.conventional else 4 - _is_redrawn(verdict)) * changed + 2 * departs
    # What stays as it was made, while that of which it was made is trained, is hardly meant either way.
    either = _EITHER_WAY if verdict.effect is not Effect.IDENTICAL else ()
    found = (one.property for one in verdict.findings)
    doubts += sum(2 if one in either else _DOUBT + 2 * (one in _UNUSUAL) for one in found)
    doubts += _is_cut_copy(verdict)
    return Key(
        unsafe=verdict.applicability is not Applicability.SAFE,
        starves=verdict.starves
        or (not spared and any(change.candidate == 0 < change.reference for change in verdict.changes))
        or any(one.property in _STARVED for one in verdict.findings),
        beside=False,
        doubts=doubts,
        rhythm=changed and any(change.rhythm for change in verdict.changes),
        # An edit that changes gradients has its doubt by that; one that keeps them may be doubted because it does.
        effect=_EFFECTS.index(_seen(verdict)) if verdict.effect.keeps_gradients else 0,
        chain=len(fix.candidate.rules),
        idiom=fix.candidate.rank,
        costly=verdict.peak_bytes > bytes_of_equals,
        size=len(fix.diff),
    )


def _is_redrawn(verdict: Verdict) -> bool:
    """Whether an edit draws random numbers where the code draws none, as a forward does that is computed again."""
    return any(other_draws(one.reference, one.candidate) for one in verdict.compared)


def _is_cut_copy(verdict: Verdict) -> bool:
    """Whether a deep copy stays a constant by which a loss could train: as a rule it is the same value once more."""
    reading = verdict.reading if verdict.effect is Effect.UNKNOWN else None
    constant = reading is not None and reading.refused is Refused.UPDATE
    return constant and any(one.reference.seen("copies-deeply") for one in verdict.compared)


def _seen(verdict: Verdict) -> Effect:
    """The effect; of an edit that goes backward from newer losses, that it computes them anew, whatever these train."""
    live = [one for one in verdict.compared if one.treatment is Treatment.LIVE]
    anew = verdict.effect is Effect.IDENTICAL and not all(same_in_turn(one.reference, one.candidate) for one in live)
    return Effect.REFRESHED if anew else verdict.effect


def settles(fix: Fix) -> bool:
    """Whether nothing has to be built upon other edits: this one is safe, or what the field does, without a doubt."""
    key = _key(fix)
    return not key.unsafe or (_usual(fix) and not key.starves)


def are_enough(fixes: Sequence[Fix]) -> bool:
    """Whether edits built upon others are not worth their runs: each way to go is there.

    One edit keeps the gradients, though with a doubt, and another changes them as may be meant, or as the field does.
    """
    left = [one for one in fixes if not _key(one).starves]
    keeps = any(one.verdict.effect.keeps_gradients for one in left)
    return keeps and any(one.verdict.effect is Effect.CHANGED and _key(one).doubts <= _DOUBT // 2 for one in left)


def _usual(fix: Fix) -> bool:
    return fix.candidate.conventional and fix.verdict.effect is Effect.CHANGED and not fix.verdict.findings


def is_best(fix: Fix) -> bool:
    """Whether an edit built upon a worse idiom could not come before this one: it is safe, and trains what is meant."""
    return settles(fix) and fix.verdict.effect in (Effect.IDENTICAL, Effect.MEANT)


def telling(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The fixes, best first, without those that only add edits to a better one and meet none of its doubts.

    Beside a safe one, none that takes all of its gradient from a parameter: it helps nobody.
    """
    kept: list[Fix] = []
    for fix in fixes:
        vain = _key(fix).starves and kept and not _key(kept[0]).unsafe
        if not vain and not any(_lines(one.diff) < _lines(fix.diff) and _doubts(one) <= _doubts(fix) for one in kept):
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


def only_adds(diff: bytes, passed: Sequence[Fix]) -> bool:
    """Whether an edit only adds lines to one that runs past the failure already."""
    return any(_lines(fix.diff) < _lines(diff) for fix in passed)


def _doubts(fix: Fix) -> frozenset[str]:
    """What is found of an edit, and that it changes gradients."""
    changed = {Effect.CHANGED.name} if fix.verdict.effect is Effect.CHANGED else set()
    return frozenset(finding.property for finding in fix.verdict.findings) | changed


def _lines(diff: bytes) -> frozenset[bytes]:
    return frozenset(line for line in diff.splitlines() if line[:1] in (b"+", b"-"))
