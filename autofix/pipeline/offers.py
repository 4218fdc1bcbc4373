"""What is offered: candidates with their verdicts, the best one confirmed, and the question that may decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autofix.core.diff import unified_diff
from autofix.core.model import Answer, Applicability, Candidate, Fix, Question, Target, Verdict
from autofix.syntax.apply import edits_between
from autofix.verdict.decide import confirm, decide
from autofix.verdict.evidence import Evidence
from autofix.verdict.needed import smaller
from autofix.verdict.order import ordered
from autofix.verdict.questions import answered, unanswered
from autofix.verdict.runs import Case, Runs

_ASKED = 6
"""Of how many fixes it is found out which answer they follow."""


def as_fix(target: Target, candidate: Candidate, verdict: Verdict) -> Fix:
    """A candidate with its verdict, and what it changes against the files as they are."""
    pairs = _pairs(target, candidate)
    edits = tuple(e for path, (old, new) in pairs.items() for e in edits_between(path, old, new))
    originals = {path: old for path, (old, _) in pairs.items()}
    return Fix(replace(candidate, edits=edits), verdict, unified_diff(pairs, target.project), originals)


def diff(target: Target, candidate: Candidate) -> bytes:
    return unified_diff(_pairs(target, candidate), target.project)


def _pairs(target: Target, candidate: Candidate) -> dict[Path, tuple[bytes, bytes]]:
    """Each file that a candidate changes: as it is, and as it becomes."""
    return {path: (target.read(path), data) for path, data in candidate.files.items()}


def confirmed(case: Case, fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The fixes, best first. The one that would be written has stood what is too dear to ask of every one."""
    found = list(fixes)
    for place, fix in enumerate(fixes):
        if fix.verdict.applicability is not Applicability.SAFE:
            break
        found[place] = replace(fix, verdict=confirm(Evidence(case, fix.candidate.files), fix.verdict))
        if found[place].verdict.applicability is Applicability.SAFE:
            break
    return ordered(found)


def without_idle_parts(case: Case, fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The fixes, the first of them without what one rule changes beside the fault, if the verdict then stays the same.

    Not where runs are dear, nor of a chain: each of its steps uncovered the next failure.
    """
    if not fixes or len(fixes[0].candidate.rules) != 1 or not case.pool.quick:
        return tuple(fixes)
    first, *others = fixes
    evidence = Evidence(case, first.candidate.files)
    if not evidence.assessment.effect.keeps_gradients:
        return tuple(fixes)
    if (files := smaller(evidence, first.candidate.edits)) == first.candidate.files:
        return tuple(fixes)
    less, candidate = Evidence(case, files), replace(first.candidate, files=files)
    verdict = confirm(less, decide(less, candidate.applicability))
    if (verdict.applicability, verdict.effect) != (first.verdict.applicability, first.verdict.effect):
        return tuple(fixes)
    return as_fix(case.pool.target, candidate, verdict), *others


def with_answers(case: Case) -> Case:
    """The case with the answers that were given to what its code leaves open."""
    return replace(case, answered=answered(Runs(case, {})))


def question_of(case: Case, fixes: Sequence[Fix]) -> Question | None:
    """What was answered, else what is to be asked where no fix is safe and an answer could make one so."""
    if case.answered:
        return _with_offers(case, case.answered[0], fixes)
    if not fixes or any(fix.verdict.applicability is Applicability.SAFE for fix in fixes):
        return None
    question = unanswered(Runs(case, {}))
    if question is None:
        return None
    told = _with_offers(case, question, fixes)
    return told if any(answer.offer is not None for answer in told.answers) else None


def _with_offers(case: Case, question: Question, fixes: Sequence[Fix]) -> Question:
    """The question with the first fix that follows each answer; beyond the first few, if its verdict says so."""
    evidence = [Evidence(case, fix.candidate.files) for fix in fixes[:_ASKED]]

    def offer(answer: Answer) -> int | None:
        found = (n for n, one in enumerate(evidence) if one.follows(question, answer))
        alike = (n for n, fix in enumerate(fixes) if answer.means is not None and fix.verdict.reading == answer.means)
        return next(found, next(alike, None))

    return replace(question, answers=tuple(replace(answer, offer=offer(answer)) for answer in question.answers))
