"""The verdict on an edit: evidence, readings left, effect, properties, applicability."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

from autofix.core.model import Applicability, Effect, Finding, Verdict
from autofix.experiments.later import died_later
from autofix.verdict.effect import departs
from autofix.verdict.evidence import Evidence
from autofix.verdict.property import properties

UNMEANT = "another-reading-is-meant"
"""What is found of an edit that does not follow an answer."""
BROKEN = "an instrument of autofix failed, and what it missed is not known. Please report this, with the script: {}"
"""The effect of an edit where what watches a run has raised."""
ENDED_EARLY = "run-ended-early"
"""What is found of an edit of which nothing else is, where a run that may show a doubt did not come to its end."""


def decide(evidence: Evidence, ceiling: Applicability) -> Verdict:
    """The verdict on one edit; `ceiling` is how far the one who made it may be trusted at most, if nothing asks for it.

    It is safe if it runs past the failure, is equal to a reading of the code that is left, and has no property that
    speaks against it.
    """
    run = evidence.edited
    ended = evidence.case.ended(run, evidence.files)
    if not evidence.case.passed(run):
        return Verdict(
            ended, Effect.UNKNOWN, Applicability.DISPLAY_ONLY, run.reason, detail=run.detail, seconds=run.seconds,
            failure=run.failure,
        )  # fmt: skip
    assessed = evidence.assessment
    run = evidence.edited  # it may have been made anew, to go further
    findings = (*_findings(evidence, last=False), *_unmeant(evidence))
    both = died_later(evidence.letter) and died_later(run)
    trusted = assessed.effect.keeps_gradients and not findings
    if assessed.effect is Effect.MEANT:  # other lines of the code ask for it, whoever made the edit
        ceiling = Applicability.SAFE
    verdict = Verdict(
        ended, assessed.effect, ceiling.lowered(Applicability.SAFE if trusted else Applicability.UNSAFE),
        assessed.sentence, findings, assessed.changes, assessed.reading,
        seconds=run.seconds, peak_bytes=run.peak_bytes,
        failure=evidence.letter.failure if both else None, starves=assessed.starves,
        compared=evidence.compared(assessed.reading),
    )  # fmt: skip
    return _unless_broken(evidence, verdict)


def confirm(evidence: Evidence, verdict: Verdict) -> Verdict:
    """The verdict on the edit that would be written, after the runs that are too dear for every one."""
    findings = _findings(evidence, last=True) if verdict.applicability is Applicability.SAFE else ()
    verdict = _unless_broken(evidence, verdict)
    if not findings:
        return verdict
    return replace(verdict, applicability=Applicability.UNSAFE, findings=(*verdict.findings, *findings))


def _unless_broken(evidence: Evidence, verdict: Verdict) -> Verdict:
    """The verdict, unless an instrument raised in one of the runs: what it did not see may speak against the edit."""
    broken = evidence.case.pool.broken
    if not (broken and verdict.effect.keeps_gradients):
        return verdict
    return replace(
        verdict, effect=Effect.UNKNOWN, applicability=verdict.applicability.lowered(Applicability.UNSAFE),
        summary=BROKEN.format(broken), reading=None,
    )  # fmt: skip


def foresee(evidence: Evidence) -> None:
    """Ask for what the effect of an edit will be decided by."""
    if not comes_late(evidence) and evidence.case.passed(evidence.edited):
        evidence.assessment  # noqa: B018  it is kept


def comes_late(evidence: Evidence) -> bool:
    """Whether others are better judged before: its own run says that it hardly is the edit to offer, and runs are dear.

    The first edit that is judged asks for most of the references: after them there may be no time for the right one.
    """
    return evidence.case.passed(evidence.edited) and not evidence.case.pool.quick and departs(evidence)


def _findings(evidence: Evidence, *, last: bool) -> tuple[Finding, ...]:
    asked = [functools.partial(one.judge, evidence) for one in properties() if one.last is last]
    found = evidence.case.pool.together(asked)
    settled = {one.about for one in evidence.case.answered if evidence.follows(one)}
    doubts = tuple(finding for finding in found if finding is not None and finding.property not in settled)
    assessed = evidence.assessment
    readings = filter(None, (evidence.code, assessed.reading))
    if doubts or not assessed.effect.keeps_gradients or not evidence.case.pool.ended_early(evidence.files, readings):
        return doubts
    return (Finding(ENDED_EARLY, "a run that looks for doubts ended at the time limit; allow more with --time-limit"),)


def _unmeant(evidence: Evidence) -> Iterator[Finding]:
    """What was answered that the edit does not follow."""
    for question in evidence.case.answered:
        if question.answer is not None and not evidence.follows(question):
            yield Finding(UNMEANT, f"the edit does not follow the answer that {question.answer.clause}", question.place)
