"""What a report comes to, in sentences to act on: the verdict, the parameters, the places, the next step."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice

from autofix.core.model import Applicability, Change, Fix, Outcome, Report, RunOutcome
from autofix.experiments.compare import norms
from autofix.probe.wire import Frame
from autofix.render import words
from autofix.render.snapshot import Snapshot

_PARAMETERS = 8
"""How many parameters are spoken of, one sentence each; the count of the others follows."""


def advice(report: Report, snapshot: Snapshot) -> list[str]:
    """The report in sentences, the most important first. A report without a failure has one."""
    return [words.one_line(sentence) for sentence in _sentences(report, snapshot)]


def _sentences(report: Report, snapshot: Snapshot) -> Iterator[str]:
    if report.diagnosis is None:
        said = words.sentence(report)
        yield said if said == words.OUTCOMES[report.outcome] else f"{words.OUTCOMES[report.outcome]}: {said}"
        return
    if report.outcome in words.JUDGED:
        yield words.judged(report)
    judged = next(iter((*report.fixes, *report.rejected)), None)
    if report.outcome is Outcome.STILL_FAILING and judged is not None:
        yield _failing(judged, snapshot)
    elif judged is not None and report.fixes:
        yield from _effect(judged, snapshot)
    else:
        yield words.sentence(report)
    yield from _explained(report, snapshot)
    yield from _next(report, snapshot)
    for condition in report.conditions:
        yield f"This holds for a run that departed from the script: {condition}"
    if report.untried:
        yield report.untried


def _failing(fix: Fix, snapshot: Snapshot) -> str:
    verdict = fix.verdict
    said = words.RUNS[verdict.run]
    if verdict.failure is None:
        return f"With the edit {said} {words.shortened(verdict.summary)}".strip()
    at = f" at {_at(verdict.failure.stack[0], snapshot)}" if verdict.failure.stack else ""
    again = "the same failure" if verdict.run is RunOutcome.SAME_FAILURE else "another failure"
    return f"With the edit there is {again}{at}: {words.shortened(verdict.failure.message)}"


def _effect(fix: Fix, snapshot: Snapshot) -> Iterator[str]:
    effect = words.effect(fix)
    yield f"{words.title(fix)}: {effect}" if fix.candidate.rules else effect
    told = sum(one.parameter in effect for one in fix.verdict.changes[:1])
    yield from islice(_parameters(fix.verdict.changes), told, None)
    if later := snapshot.later(fix):
        yield f"It {later}"
    yield from (f"Doubt {name}: {sentence}" for name, sentence in snapshot.reasons(fix))


def _parameters(changes: Iterable[Change]) -> Iterator[str]:
    """One sentence for each parameter, about the first step where it departs, in the order of what changes most."""
    grouped: dict[str, list[Change]] = {}
    for change in changes:
        grouped.setdefault(change.parameter, []).append(change)
    for name, some in list(grouped.items())[:_PARAMETERS]:
        first, more = some[0], len({change.step for change in some}) - 1
        further = f" (and at {more} later step{'' if more == 1 else 's'})" if more else ""
        yield f"{_change(name, first)}{further}"
    if (left := len(grouped) - _PARAMETERS) > 0:
        yield f"{left} more parameters differ"


def _change(name: str, change: Change) -> str:
    step = change.step + 1
    if change.note:
        return change.note if name in change.note else f"{name or 'The run'}, step {step}: {change.note}"
    why = ""
    if change.candidate == 0 < change.reference:
        why = ": look for a detach, no_grad, .data or .item in the edit, a term that is gone, or a late zero_grad"
    elif change.reference == 0 < change.candidate:
        why = ": look for a detach that is gone, or gradients of an earlier loss that are left in it"
    return f"{name} gets {norms(change)} at step {step}{why}"


def _explained(report: Report, snapshot: Snapshot) -> Iterator[str]:
    """Why the script failed, where that is what is left to do something about."""
    if report.outcome in (Outcome.SAFE, Outcome.FIXED) or report.diagnosis is None:
        return
    cause = report.diagnosis.declined or words.CAUSES[report.diagnosis.cause]
    places = [f"{_at(culprit.frame, snapshot)} {words.role(culprit)}" for culprit in words.told(report)]
    yield f"The failure to cure: {'; '.join([cause, *places])}"


def _at(frame: Frame, snapshot: Snapshot) -> str:
    """A place as seen from the project's root."""
    place = snapshot.place(frame)
    with contextlib.suppress(ValueError):
        return f"{place.file.relative_to(snapshot.root)}:{place.line}"
    return f"{place.file}:{place.line}"


def _next(report: Report, snapshot: Snapshot) -> Iterator[str]:
    if report.outcome in (Outcome.UNSAFE, Outcome.STILL_FAILING):
        yield "Next: change the edit and verify again, or ask fix for one that is proved; do not keep this one unread"
    elif report.outcome is Outcome.AVAILABLE:
        safe = report.fixes[0].verdict.applicability is Applicability.SAFE
        yield (
            "Next: apply the first fix; it is proved"
            if safe
            else "Next: no fix is proved. A person has to choose by what the code is meant to do"
        )
    elif report.outcome is Outcome.UNFIXED:
        yield from (f"{_at(hint.frame, snapshot)}: {hint.sentence}" for hint in report.hints)
        yield "Next: edit by hand at the lines named above, and verify the edit"
