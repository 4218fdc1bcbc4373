"""The street of `verify`: run, diagnose, judge the one edit that somebody else made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from autofix.core.model import Applicability, Candidate, Outcome, Report, RunOutcome, Target
from autofix.experiments.client import Probe
from autofix.experiments.pool import Pool
from autofix.experiments.reproduce import missing_words, reproduce
from autofix.experiments.telling import RUNNING, Telling
from autofix.pipeline import first
from autofix.pipeline.offers import as_fix, question_of, with_answers
from autofix.verdict.decide import confirm, decide
from autofix.verdict.evidence import Evidence
from autofix.verdict.runs import Case


def judged(
    probe: Probe, target: Target, files: Mapping[Path, bytes], progress: Callable[[str], None], *, offered: bool
) -> Report:  # fmt: skip
    """What the runs say of `files`; `offered`: they are no edits of our own rules."""
    tell = Telling(probe, progress)
    tell(RUNNING)
    target, baseline = reproduce(probe, target)
    report = replace(first.report(target, baseline), torch=probe.hello().torch)
    ended = first.outcome(baseline)
    if ended is not None:
        message = first.words(ended, target, baseline)
        message = message or "the script as it stands does not fail; there is no repair to judge"
        return replace(report, outcome=ended, message=message)
    with Pool(probe, target, baseline, files) as pool:
        diagnosis = first.diagnosis(probe, target, baseline, {})
        if diagnosis is None:
            return replace(report, outcome=Outcome.OTHER_FAILURE, message=missing_words(target, baseline))
        tell("judging the edit")
        pool.about(diagnosis)
        case = with_answers(Case(pool, diagnosis, offered))
        evidence = Evidence(case, files)
        verdict = confirm(evidence, decide(evidence, Applicability.SAFE))
        one = as_fix(target, Candidate((), (), (), (), dict(files)), verdict)
        question = question_of(case, [one])
        conditions = tuple(dict.fromkeys((*baseline.notes, *evidence.edited.notes)))
    timings = {"script": baseline.seconds}
    report = replace(report, diagnosis=diagnosis, timings=timings, conditions=conditions, question=question)
    if verdict.run is RunOutcome.INSTRUMENT_FAILED:
        return replace(report, outcome=Outcome.INSTRUMENT_FAILED, message=verdict.summary)
    if verdict.run not in (RunOutcome.PASSED, RunOutcome.FINISHED):
        return replace(report, outcome=Outcome.STILL_FAILING, rejected=(one,))
    safe = verdict.applicability is Applicability.SAFE
    return replace(report, outcome=Outcome.SAFE if safe else Outcome.UNSAFE, fixes=(one,))
