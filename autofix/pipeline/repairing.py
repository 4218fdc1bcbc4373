"""The street of `fix`: run, diagnose, search in rounds, and report what may be offered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autofix.audit import told
from autofix.core.model import Applicability, Fix, Outcome, Report, Target
from autofix.experiments.client import Probe
from autofix.experiments.pool import Pool
from autofix.experiments.reproduce import audited, missing_words, reproduce
from autofix.experiments.telling import RUNNING, TRACING, Telling, long_way
from autofix.pipeline import first
from autofix.pipeline.auditing import looked_through
from autofix.pipeline.offers import confirmed, question_of, with_answers, without_idle_parts
from autofix.pipeline.rounds import Rounds
from autofix.pipeline.titles import apart
from autofix.search.propose import hints
from autofix.search.rule import Rule
from autofix.syntax.sources import Sources
from autofix.verdict.order import ordered, telling, with_answers_first
from autofix.verdict.runs import Case


def repaired(
    probe: Probe, target: Target, rules: Sequence[Rule], progress: Callable[[str], None], found: Callable[[Fix], None]
) -> Report:  # fmt: skip
    """The failure of a target, and the edits that cure it; `found` is told of the first safe one."""
    tell = Telling(probe, progress)
    tell(RUNNING)
    target, baseline = reproduce(probe, target)
    seen = tuple(told.suspicions(baseline.silent, Sources.of(target)))
    report = replace(first.report(target, baseline), torch=probe.hello().torch, suspicions=seen)
    ended = first.outcome(baseline)
    if ended is Outcome.CLEAN and baseline.backward_count:
        report = _looked_at(probe, report)
    if ended is not None:
        return replace(report, outcome=ended, message=first.words(ended, target, baseline))
    tell(TRACING, calls=baseline.backward_count, following="trying edits")
    with Pool(probe, target, baseline) as pool:
        diagnosis = first.diagnosis(probe, target, baseline, {})
        if diagnosis is None:
            return replace(report, outcome=Outcome.OTHER_FAILURE, message=missing_words(target, baseline))
        pool.about(diagnosis)
        case = with_answers(Case(pool, diagnosis))
        rounds = Rounds(probe, target, rules, tell, found)
        rounds.search(case)
        tell("comparing the edits that run")
        fixes = confirmed(case, telling(ordered(rounds.fixes)))
        while rounds.left and not any(fix.verdict.applicability is Applicability.SAFE for fix in fixes):
            rounds.go_on(case, fixes)
            fixes = confirmed(case, telling(ordered(rounds.fixes)))
        fixes = apart(without_idle_parts(case, fixes))
        question = question_of(case, fixes)
        if question is not None and not question.chosen:
            fixes, question = with_answers_first(fixes, question)
    outcome = Outcome.AVAILABLE if fixes else Outcome.UNFIXED
    usual = () if fixes else hints(diagnosis, rules)
    return replace(
        report, outcome=outcome, diagnosis=diagnosis, fixes=fixes, rejected=tuple(rounds.rejected), hints=usual,
        notes=tuple(dict.fromkeys(rounds.notes)), timings={"script": baseline.seconds},
        conditions=tuple(dict.fromkeys((*baseline.notes, *rounds.conditions))),
        untried="; ".join(filter(None, (rounds.untried, long_way(baseline, diagnosis.trace)))), question=question,
    )  # fmt: skip


def _looked_at(probe: Probe, report: Report) -> Report:
    """With what a closer look at a script that ends well finds, if it comes to its end there too."""
    _, trace = audited(probe, report.target)
    if not trace.ended_well:
        return report
    seen = looked_through(report.target, trace, ())
    return replace(report, suspicions=seen.suspicions, books=seen.books, timings={"script": trace.seconds})
