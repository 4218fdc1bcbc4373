"""The street from a target to a report: run, trace, diagnose, propose, judge."""

from __future__ import annotations

import contextlib
import functools
import itertools
import textwrap
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autofix.audit import told
from autofix.audit.mend import Mending
from autofix.core.diff import unified_diff
from autofix.core.model import MAY_BE_AUTOGRAD, Applicability, Candidate, Cause, Fix, Outcome, Report, RunOutcome
from autofix.core.write import write
from autofix.diagnosis.diagnose import diagnose
from autofix.experiments.client import JOBS, Probe, ProbeError, run
from autofix.experiments.later import again
from autofix.experiments.pool import Pool
from autofix.experiments.reproduce import (
    audited,
    exit_words,
    limit_words,
    missing_words,
    reproduce,
    swallowed_words,
    wants_gpu,
)
from autofix.experiments.requests import line_maps, tracing
from autofix.experiments.telling import RUNNING, TRACING, Telling
from autofix.experiments.warm import start
from autofix.search.propose import hints, propose
from autofix.syntax.apply import edits_between
from autofix.syntax.sources import Sources
from autofix.verdict.decide import comes_late, confirm, decide, foresee
from autofix.verdict.evidence import Evidence
from autofix.verdict.order import is_best, only_adds, ordered, settles, still_worth_a_run, telling, with_answers_first
from autofix.verdict.questions import answered, unanswered
from autofix.verdict.runs import Case, Runs
from autofix.verdict.titles import apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from autofix.core.model import Answer, Diagnosis, Note, Question, Target, Verdict
    from autofix.probe import wire
    from autofix.search.rule import Rule

DEPTH = 3
"""How many failures in a row one patch may cure."""
_CHAINS = 5
_ASKED = 6
"""Of how many fixes it is found out which answer they follow."""
_LONGEST = 120
"""Characters of an exception's message in a line that is about something else."""


def fix(
    target: Target,
    rules: Sequence[Rule],
    *,
    probe: Probe | None = None,
    progress: Callable[[str], None] = print,
    found: Callable[[Fix], None] = lambda _fix: None,
) -> Report:
    """Reproduce the target's failure and find verified edits. Writes nothing; raises nothing but bugs.

    `found` is told of the first safe edit as soon as it is known.
    """

    def work(running: Probe) -> Report:
        return _wherever(target, lambda there: _Repair(running, there, rules, progress, found).report())

    return _on_probe(target, probe, work)


def verify(
    target: Target,
    files: Mapping[Path, bytes],
    *,
    ours: bool = False,
    probe: Probe | None = None,
    progress: Callable[[str], None] = print,
) -> Report:
    """Judge an edit that somebody else made: `files` are new contents of files of the target's project.

    `ours`: they hold edits of our own rules, each proved already, some of them for other programs of the project.
    """
    if missing := next((path for path in files if not path.exists()), None):
        return Report(
            target, Outcome.CANNOT_RUN, message=f"{missing} is not a file of the project; verify judges edits"
        )
    changed = {path: data for path, data in files.items() if target.read(path) != data}

    def work(running: Probe) -> Report:
        return _wherever(target, lambda there: _verify(running, there, changed, progress, offered=not ours))

    return _on_probe(target, probe, work)


def _on_probe(target: Target, probe: Probe | None, work: Callable[[Probe], Report]) -> Report:
    """What work comes to on this probe, else on one of its own; with the seconds that all of it took."""
    began = time.monotonic()
    try:
        with contextlib.nullcontext(probe) if probe is not None else start(target) as running:
            report = work(running)
    except ProbeError as error:
        return Report(target, Outcome.CANNOT_RUN, message=str(error))
    return replace(report, timings=report.timings | {"total": time.monotonic() - began})


def _wherever(target: Target, work: Callable[[Target], Report]) -> Report:
    """What work comes to; on the CPU where the script fails before it asks for a GPU in vain, as an edited one does."""
    report = work(target)
    verdicts = [fix.verdict for fix in (*report.fixes, *report.rejected)]
    safe = any(one.applicability is Applicability.SAFE for one in verdicts)
    said = [text for one in verdicts for text in (one.detail, one.failure.message if one.failure is not None else "")]
    if target.device != "auto" or report.target.setup.device == "cpu" or safe or not any(map(wants_gpu, said)):
        return report
    again = work(replace(target, device="cpu"))
    return again if again.diagnosis is not None else report


def _verify(
    probe: Probe, target: Target, files: Mapping[Path, bytes], progress: Callable[[str], None], *, offered: bool
) -> Report:  # fmt: skip
    tell = Telling(probe, progress)
    tell(RUNNING)
    target, baseline = reproduce(probe, target)
    report = replace(_report(target, baseline), torch=probe.hello().torch)
    ended = _baseline_outcome(baseline)
    if ended is not None:
        message = _baseline_words(ended, target, baseline)
        message = message or "the script as it stands does not fail; there is no repair to judge"
        return replace(report, outcome=ended, message=message)
    with Pool(probe, target, baseline, files) as pool:
        diagnosis = _diagnosis(probe, target, baseline, {})
        if diagnosis is None:
            return replace(report, outcome=Outcome.OTHER_FAILURE, message=missing_words(target, baseline))
        tell("running the edited script")
        pool.about(diagnosis)
        case = _answered(Case(pool, diagnosis, offered))
        evidence = Evidence(case, files)
        verdict = confirm(evidence, decide(evidence, Applicability.SAFE))
        one = _as_fix(target, Candidate((), (), (), (), dict(files)), verdict)
        question = _question(case, [one])
        conditions = tuple(dict.fromkeys((*baseline.notes, *evidence.edited.notes)))
    timings = {"script": baseline.seconds}
    report = replace(report, diagnosis=diagnosis, timings=timings, conditions=conditions, question=question)
    if verdict.run not in (RunOutcome.PASSED, RunOutcome.FINISHED):
        return replace(report, outcome=Outcome.STILL_FAILING, rejected=(one,))
    safe = verdict.applicability is Applicability.SAFE
    return replace(report, outcome=Outcome.SAFE if safe else Outcome.UNSAFE, fixes=(one,))


def audit(
    target: Target, *, ignored: Sequence[str] = (), mend: bool = False, probe: Probe | None = None,
    progress: Callable[[str], None] = print,
) -> Report:  # fmt: skip
    """Run a target that does not crash, and say what goes wrong in its training. Writes nothing.

    The outcome is clean where the run could be looked at; what it showed are `suspicions` and `books`. `ignored` are
    codes, starts of codes or names of what nobody wants to hear of. `mend`: the edits that are proved to mend faults
    are looked for, and are together the one fix.
    """

    def looked_at(running: Probe) -> Report:
        tell = Telling(running, progress)
        tell(RUNNING)
        runnable, trace = audited(running, target)
        found = _audited(runnable, trace, ignored)
        report = replace(found, torch=running.hello().torch, timings={"script": trace.seconds})
        if not (mend and report.outcome is Outcome.CLEAN and any(one.sure for one in report.suspicions)):
            return report
        mending = Mending(running, runnable, trace, ignored)
        proved = mending.mended(tell)
        fixes = (_as_fix(runnable, *proved),) if proved is not None else ()
        return replace(report, fixes=fixes, notes=tuple(mending.notes))

    return _on_probe(target, probe, looked_at)


def _audited(target: Target, trace: wire.Trace, ignored: Sequence[str]) -> Report:
    ended = _baseline_outcome(trace) or Outcome.OTHER_FAILURE
    if ended is Outcome.NO_FAILURE_WITHIN_LIMIT and trace.books is not None and trace.books.losses:
        ended = Outcome.CLEAN  # it was looked at for as long as it may run
    message = _baseline_words(ended, target, trace)
    if trace.failure is not None:
        ends = textwrap.shorten(trace.detail, _LONGEST, placeholder=" …")
        message = f"it ends with {ends}; `autofix fix` looks for a cure of what fails in autograd"
    found = tuple(told.suspicions(trace.silent, Sources.of(target), ignored))
    return replace(_report(target, trace), outcome=ended, message=message, suspicions=found, books=trace.books)


def _report(target: Target, trace: wire.Trace) -> Report:
    """What the first run of a target says of it."""
    return Report(
        target, Outcome.CLEAN, failure=trace.failure, traceback=trace.traceback, isolation=trace.isolation,
        wrote=trace.wrote, reached=trace.reached, calls=trace.backward_count, conditions=trace.notes,
    )  # fmt: skip


def apply(report: Report, *, unsafe: bool, index: int | None = None) -> Report:
    """Write the best fix (or the `index`-th) to disk; nothing where only unsafe ones exist and `unsafe` is not given.

    Raises write.WriteRefused, with nothing changed, when a file cannot or may not be written.
    """
    wanted = range(len(report.fixes)) if index is None else (index,)
    allowed = [n for n in wanted if unsafe or report.fixes[n].verdict.applicability is Applicability.SAFE]
    if not allowed:
        return report
    chosen = report.fixes[allowed[0]]
    files = {path: (chosen.originals[path], new) for path, new in chosen.candidate.files.items()}
    write(files, report.target.project)
    return replace(report, outcome=Outcome.FIXED, applied=allowed[0])


class _Repair:
    """One repair under way."""

    def __init__(
        self, probe: Probe, target: Target, rules: Sequence[Rule], progress: Callable[[str], None],
        found: Callable[[Fix], None] = lambda _fix: None,
    ) -> None:  # fmt: skip
        self.probe = probe
        self.target = target
        self.rules = rules
        self.tell = Telling(probe, progress)
        self.found = found
        self.notes: list[Note] = []
        self.conditions: dict[str, None] = {}
        self.untried = ""
        self.fixes: list[Fix] = []
        self.rejected: list[Fix] = []
        self.broken: list[Fix] = []
        """The edits with which, as the first ones, the script dies of something else than autograd."""
        self.tried: set[frozenset[tuple[Path, bytes]]] = set()

    def report(self) -> Report:
        """The whole street."""
        self.tell(RUNNING)
        self.target, baseline = reproduce(self.probe, self.target)
        self.conditions.update(dict.fromkeys(baseline.notes))
        seen = tuple(told.suspicions(baseline.silent, Sources.of(self.target)))
        report = replace(_report(self.target, baseline), torch=self.probe.hello().torch, suspicions=seen)
        ended = _baseline_outcome(baseline)
        if ended is Outcome.CLEAN and baseline.backward_count:
            report = self._looked_at(report)
        if ended is not None:
            return replace(report, outcome=ended, message=_baseline_words(ended, self.target, baseline))
        self.tell(TRACING, calls=baseline.backward_count)
        with Pool(self.probe, self.target, baseline) as pool:
            diagnosis = _diagnosis(self.probe, self.target, baseline, {})
            if diagnosis is None:
                return replace(report, outcome=Outcome.OTHER_FAILURE, message=missing_words(self.target, baseline))
            pool.about(diagnosis)
            case = _answered(Case(pool, diagnosis))
            self._search(case)
            fixes = apart(_confirmed(case, telling(ordered(self.fixes))))
            question = _question(case, fixes)
            if question is not None and not question.chosen:
                fixes, question = with_answers_first(fixes, question)
        outcome = Outcome.AVAILABLE if fixes else Outcome.UNFIXED
        usual = () if fixes else hints(diagnosis, self.rules)
        return replace(
            report, outcome=outcome, diagnosis=diagnosis, fixes=fixes, rejected=tuple(self.rejected), hints=usual,
            notes=tuple(dict.fromkeys(self.notes)), timings={"script": baseline.seconds},
            conditions=tuple(self.conditions), untried=self.untried, question=question,
        )  # fmt: skip

    def _looked_at(self, report: Report) -> Report:
        """With what a closer look at a script that ends well finds, if it comes to its end there too."""
        _, trace = audited(self.probe, self.target)
        if not trace.ended_well:
            return report
        seen = _audited(self.target, trace, ())
        return replace(report, suspicions=seen.suspicions, books=seen.books, timings={"script": trace.seconds})

    def _search(self, case: Case) -> None:
        """Breadth first over chains of cures: a candidate that only uncovers the next failure is built upon."""
        level: Iterable[_Built] = [_Built(case.diagnosis, None, case.pool.baseline)]
        for depth in range(DEPTH):
            found: list[tuple[Candidate, wire.Trace]] = []
            for built in level:
                if depth and self._has_waited(case, 0):
                    return
                tried = self._try(case, built.diagnosis, built.candidate)
                base = built.candidate.files if built.candidate is not None else {}
                for candidate, live in tried:
                    if _uncovers(candidate, live, built.run, line_maps(self.target, candidate.files, base)):
                        found.append((candidate, live))
                if depth and any(map(is_best, self.fixes)):
                    return
            if depth + 1 == DEPTH or any(map(settles, self.fixes)):
                return
            level = self._next(found)

    def _try(
        self, case: Case, diagnosis: Diagnosis, base: Candidate | None
    ) -> list[tuple[Candidate, wire.Trace]]:  # fmt: skip
        """Run every candidate for one diagnosis; returns those that failed in another way."""
        files = dict(base.files) if base is not None else {}
        candidates, notes = propose(diagnosis, Sources.of(self.target, files), self.rules, base)
        self.notes.extend(notes)
        uncovered = []
        # The same edits in another order are the same candidate.
        queue = [
            (candidate, Evidence(case, candidate.files))
            for candidate in candidates
            if _key(candidate) not in self.tried
        ]
        queue = self._worth(case, self._telling(case, queue)) if base is not None else queue
        self.tried.update(_key(candidate) for candidate, _ in queue)
        behind: list[Evidence] = []
        while queue and not self._has_waited(case, len(queue)):
            # This one, too: while the first reference is waited for, its run is to begin before those of the others.
            case.pool.look_ahead([functools.partial(foresee, one) for _, one in queue[: 1 + 2 * JOBS]])
            (candidate, evidence), *queue = queue
            self.tell(f"trying {candidate.titles[-1]}")
            if evidence not in behind and comes_late(evidence):
                behind.append(evidence)
                queue.insert(2 * JOBS, (candidate, evidence))
                continue
            verdict = decide(evidence, candidate.applicability)
            self.conditions.update(dict.fromkeys(evidence.edited.notes))
            one = _as_fix(self.target, candidate, verdict)
            passed = case.passed(evidence.edited)
            (self.fixes if passed else self.rejected).append(one)
            if verdict.applicability is Applicability.SAFE:
                if not any(other.verdict.applicability is Applicability.SAFE for other in self.fixes[:-1]):
                    self.found(one)
                queue = self._worth(case, queue)
            if verdict.run is RunOutcome.OTHER_FAILURE:
                uncovered.append((candidate, evidence.edited))
                if base is None and not _of_autograd(evidence.edited):
                    self.broken.append(one)
        case.pool.look_ahead(())  # what is left is not wanted: its runs would go on beside those that are
        return uncovered

    def _has_waited(self, case: Case, left: int) -> bool:
        """Whether somebody has waited long enough, longer where no edit runs yet; it is told what is left out."""
        none = bool(self.fixes) and bool(case.pool.too_few)
        if not (none or case.pool.late(in_vain=not self.fixes)):
            return False
        more = f"{left} more edit{'s were' if left != 1 else ' was'}" if left else "edits built upon others were"
        long = f"the repair had computed for {case.pool.computed:.0f} s"
        why = "no edit can be compared in this time" if none else long
        self.untried = self.untried or f"{more} not tried: {why}; a larger --budget goes on for longer"
        return True

    def _telling(self, case: Case, queue: list[_Waiting]) -> list[_Waiting]:
        """What is left to build upon another edit: nothing that breaks the script without that, too.

        Where runs are dear, nothing that would run past without that either.
        """
        known = self.broken + self.fixes * (not case.pool.quick)
        return [one for one in queue if not only_adds(_diff(self.target, one[0]), known)]

    def _worth(self, case: Case, queue: list[_Waiting]) -> list[_Waiting]:
        """What is left to try beside a safe edit, if one is known; runs of the others end."""
        if not any(fix.verdict.applicability is Applicability.SAFE for fix in self.fixes):
            return queue
        kept = still_worth_a_run([candidate for candidate, _ in queue], self.fixes) if case.pool.quick else []
        for candidate, _ in queue:
            if candidate not in kept:
                case.pool.drop(candidate.files)
        return [waiting for waiting in queue if waiting[0] in kept]

    def _next(self, found: list[tuple[Candidate, wire.Trace]]) -> Iterator[_Built]:
        """What the next level builds upon, each explained when its turn comes: the first one often ends the search."""
        built = (
            _Built(diagnosis, candidate, live)
            for candidate, live in _in_turn(found)[: 2 * _CHAINS]
            if live.failure is not None
            and (diagnosis := _diagnosis(self.probe, self.target, live, candidate.files)) is not None
            and diagnosis.cause is not Cause.OTHER
        )
        return itertools.islice(built, _CHAINS)


def _diagnosis(
    probe: Probe, target: Target, failed: wire.Trace, files: Mapping[Path, bytes]
) -> Diagnosis | None:  # fmt: skip
    """Why a run of the target with these files failed, by one more run; None where that cannot be told."""
    asked = tracing(target, failed, files)
    trace = run(probe, asked)
    if trace.late:  # it went another way than the first run, or a mode of the script's own was in the way
        trace = run(probe, replace(asked, watch_from=0))
    if trace.failure is None:  # it ended otherwise, on a busy machine say: once more, whole and from the first line
        trace = run(probe, replace(asked, watch_from=0, watch_origins=True))
    return diagnose(failed, trace, Sources.of(target, files))


def _as_fix(target: Target, candidate: Candidate, verdict: Verdict) -> Fix:
    """A candidate with its verdict, and what it changes against the files as they are."""
    pairs = _pairs(target, candidate)
    edits = tuple(e for path, (old, new) in pairs.items() for e in edits_between(path, old, new))
    originals = {path: old for path, (old, _) in pairs.items()}
    return Fix(replace(candidate, edits=edits), verdict, unified_diff(pairs, target.project), originals)


def _diff(target: Target, candidate: Candidate) -> bytes:
    return unified_diff(_pairs(target, candidate), target.project)


def _pairs(target: Target, candidate: Candidate) -> dict[Path, tuple[bytes, bytes]]:
    """Each file that a candidate changes: as it is, and as it becomes."""
    return {path: (target.read(path), data) for path, data in candidate.files.items()}


_Waiting = tuple[Candidate, Evidence]


@dataclass(frozen=True, slots=True)
class _Built:
    """What candidates are built upon: how the program fails with the edits made so far."""

    diagnosis: Diagnosis
    candidate: Candidate | None
    run: wire.Trace


def _in_turn(found: list[tuple[Candidate, wire.Trace]]) -> list[tuple[Candidate, wire.Trace]]:
    """By rank, but one of each way of repair before a second of any: many alike must not crowd out what works."""
    turns: Counter[tuple[str, ...]] = Counter()
    placed: list[tuple[int, tuple[Candidate, wire.Trace]]] = []
    for pair in sorted(found, key=lambda pair: pair[0].rank):
        placed.append((turns[pair[0].rules], pair))
        turns[pair[0].rules] += 1
    return [pair for _, pair in sorted(placed, key=lambda one: one[0])]


def _confirmed(case: Case, fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The fixes, best first. The one that would be written has stood what is too dear to ask of every one."""
    found = list(fixes)
    for place, fix in enumerate(fixes):
        if fix.verdict.applicability is not Applicability.SAFE:
            break
        found[place] = replace(fix, verdict=confirm(Evidence(case, fix.candidate.files), fix.verdict))
        if found[place].verdict.applicability is Applicability.SAFE:
            break
    return ordered(found)


def _answered(case: Case) -> Case:
    """The case with the answers that were given to what its code leaves open."""
    return replace(case, answered=answered(Runs(case, {})))


def _question(case: Case, fixes: Sequence[Fix]) -> Question | None:
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


def _key(candidate: Candidate) -> frozenset[tuple[Path, bytes]]:
    return frozenset(candidate.files.items())


def _uncovers(
    candidate: Candidate, live: wire.Trace, before: wire.Trace, lines: Mapping[str, Sequence[int]]
) -> bool:  # fmt: skip
    """Whether a run fails of something further, which the edit only uncovered; not of what the edit itself did.

    An edit is no step of a repair that calls what is not there, that leaves without a graph what had one, that cuts off
    what a derivative is by, or that gives a new tensor to the name of a parameter.
    """
    failure, cured = live.failure, before.failure
    if failure is None or cured is None:
        return False
    earlier = live.backward_count <= before.backward_count
    if again(live, before, lines):
        return False
    cut = any(word in edit.text for edit in candidate.edits for word in ("detach", "no_grad"))
    caused = (Cause.NO_GRAPH, Cause.PARAMETER_ASSIGNED, *([Cause.UNUSED_INPUT] if cut else []))
    if failure.kind in caused and cured.kind not in caused and earlier:
        return False
    return _of_autograd(live)


def _of_autograd(trace: wire.Trace) -> bool:
    """Whether what a run died of may be autograd's."""
    failure = trace.failure
    return failure is not None and (failure.in_backward or bool(failure.kind) or failure.type in MAY_BE_AUTOGRAD)


def _baseline_words(ended: Outcome, target: Target, baseline: wire.Trace) -> str:
    if ended in (Outcome.NO_FAILURE_WITHIN_LIMIT, Outcome.TIMED_OUT):
        return limit_words(target, baseline)
    return exit_words(baseline) or swallowed_words(baseline)


def _baseline_outcome(trace: wire.Trace) -> Outcome | None:
    """The outcome of a target whose first run settles it, None if there is a failure to look into."""
    if trace.ended_well:
        return Outcome.CLEAN
    if trace.outcome == "failed":
        return None if trace.failure is not None else Outcome.OTHER_FAILURE
    if trace.outcome == "timed_out":  # a run that trained until then ran; of another nothing is known
        return Outcome.NO_FAILURE_WITHIN_LIMIT if trace.backward_count else Outcome.TIMED_OUT
    return Outcome(trace.outcome)
