"""Rounds of candidates: each is run and judged, and what only uncovers the next failure is built upon."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from autofix.core.model import Applicability, Candidate, Cause, Diagnosis, Fix, Note, RunOutcome, Target
from autofix.experiments.client import JOBS, Probe
from autofix.experiments.later import again, is_of_another
from autofix.experiments.requests import line_maps
from autofix.experiments.telling import Telling
from autofix.pipeline import first
from autofix.pipeline.chains import Built, in_turn, of_autograd, uncovers
from autofix.pipeline.offers import as_fix, diff
from autofix.probe import wire
from autofix.search.propose import propose
from autofix.search.rule import Rule
from autofix.syntax.sources import Sources
from autofix.verdict.decide import comes_late, decide, foresee
from autofix.verdict.effect import agrees
from autofix.verdict.evidence import Evidence
from autofix.verdict.order import are_enough, is_best, only_adds, settles, still_worth_a_run
from autofix.verdict.runs import Case

DEPTH = 3
"""How many failures in a row one patch may cure."""
_PLACES = 12
"""The same, where each is cured in the same way at another place."""
_CHAINS = 5
_Waiting = tuple[Candidate, Evidence]


class Rounds:
    """The search of one repair under way, and what it has come to."""

    def __init__(
        self, probe: Probe, target: Target, rules: Sequence[Rule], tell: Telling,
        found: Callable[[Fix], None],
    ) -> None:  # fmt: skip
        self.probe = probe
        self.target = target
        self.rules = rules
        self.tell = tell
        self.found = found
        self.notes: list[Note] = []
        self.conditions: dict[str, None] = {}
        self.untried = ""
        self.fixes: list[Fix] = []
        self.rejected: list[Fix] = []
        self.broken: list[Fix] = []
        """The edits with which, as the first ones, the script dies of something else than autograd."""
        self.tried: set[frozenset[tuple[Path, bytes]]] = set()
        self.explained: dict[frozenset[tuple[Path, bytes]], Diagnosis | None] = {}
        """Why candidates fail that are built upon."""
        self.left: list[tuple[Built, _Waiting]] = []
        """What was not tried because of an edit that is safe."""

    def search(self, case: Case) -> None:
        """Breadth first over chains of cures: a candidate that only uncovers the next failure is built upon."""
        level: Iterable[Built] = [Built(case.diagnosis, None, case.pool.baseline)]
        for depth in range(_PLACES):
            found: list[tuple[Candidate, wire.Trace]] = []
            for built in level:
                if depth and self._has_waited(case, 0):
                    return
                found += self._try(case, built)
                if depth and any(map(is_best, self.fixes)):
                    return
            if not found or any(map(settles, self.fixes)) or are_enough(self.fixes):
                return
            level = self._next(found)

    def go_on(self, case: Case, fixes: Sequence[Fix]) -> None:
        """Try what an edit made needless that was safe at first and has not stood the rest; `fixes` are all until now.

        What is left was to be tried only if it came before that one.
        """
        self.fixes, left, self.left = list(fixes), self.left, []
        for built, waiting in itertools.groupby(left, operator.itemgetter(0)):
            self._try_each(case, built, [one for _, one in waiting])

    def _try(self, case: Case, built: Built) -> list[tuple[Candidate, wire.Trace]]:
        """Run every candidate for one diagnosis; returns those to build upon."""
        return self._try_each(case, built, self._queue(case, built))

    def _try_each(self, case: Case, built: Built, queue: list[_Waiting]) -> list[tuple[Candidate, wire.Trace]]:
        uncovered = []
        behind: list[Evidence] = []
        while queue and not self._has_waited(case, len(queue)):
            (candidate, evidence), *queue = queue
            # This one, too: while the first reference is waited for, its run is to begin before those of the others.
            others = [functools.partial(_foresee_beside, evidence, one) for _, one in queue[: 2 * JOBS]]
            case.pool.look_ahead([functools.partial(foresee, evidence), *others])
            self._announce(case, candidate, [one for one, _ in queue])
            if evidence not in behind and comes_late(evidence):
                behind.append(evidence)
                queue.insert(2 * JOBS, (candidate, evidence))
                continue
            verdict = decide(evidence, candidate.applicability)
            self.conditions.update(dict.fromkeys(evidence.edited.notes))
            one = as_fix(self.target, candidate, verdict)
            passed = case.passed(evidence.edited)
            (self.fixes if passed else self.rejected).append(one)
            if verdict.applicability is Applicability.SAFE:
                if not any(other.verdict.applicability is Applicability.SAFE for other in self.fixes[:-1]):
                    self.found(one)
                queue = self._worth(case, queue, built)
            if verdict.run in (RunOutcome.OTHER_FAILURE, RunOutcome.SAME_FAILURE):
                if built.candidate is None and not of_autograd(evidence.edited):
                    self.broken.append(one)
                uncovered += self._uncovered(case, built, (candidate, evidence), queue)
                queue = self._worth(case, queue, built)
        case.pool.look_ahead(())  # what is left is not wanted: its runs would go on beside those that are
        return uncovered

    def _announce(self, case: Case, candidate: Candidate, left: Sequence[Candidate]) -> None:
        """Say which edit is tried, what is known to be left, and when the search ends at the latest."""
        number = len(self.fixes) + len(self.rejected) + 1
        most = case.pool.most(in_vain=not self.fixes)
        time = f"{case.pool.computed:.0f} s of processor time used, of {most:.0f} at most"
        self.tell(
            f"trying edit {number} of {number + len(left)}: {candidate.titles[-1]}",
            following="; ".join([*(one.titles[-1] for one in left[:1]), time]),
        )

    def _queue(self, case: Case, built: Built) -> list[_Waiting]:
        """The candidates for one diagnosis, in the order in which they are tried."""
        base = built.candidate
        sources = Sources.of(self.target, {} if base is None else base.files)
        candidates, notes = propose(built.diagnosis, sources, self._asked(built.diagnosis.cause), base)
        if base is not None and len(base.rules) >= DEPTH:
            candidates = [one for one in candidates if _is_one_cure(one)]
        self.notes.extend(notes)
        # The same edits in another order are the same candidate.
        queue = [
            (candidate, Evidence(case, candidate.files))
            for candidate in candidates
            if _key(candidate) not in self.tried
        ]
        if base is not None:
            queue = self._worth(case, self._telling(case, queue), built)
            if not case.pool.quick:  # what cured the failure before this one likely cures this one, too
                queue.sort(key=lambda waiting: not _is_one_cure(waiting[0]))
        self.tried.update(_key(candidate) for candidate, _ in queue)
        return queue

    def _asked(self, cause: Cause) -> Iterator[Rule]:
        """The rules for a cause; each is told of when its turn comes, for on a long graph one takes seconds."""
        self.tell("looking for edits")
        for rule in (one for one in self.rules if cause in one.causes):
            self.tell(f"looking for edits: {rule.code}")
            yield rule

    def _uncovered(
        self, case: Case, built: Built, tried: _Waiting, left: Sequence[_Waiting]
    ) -> list[tuple[Candidate, wire.Trace]]:  # fmt: skip
        """A candidate that failed in another way, if it is to be built upon.

        Where runs are dear, and its steps up to there are those of the code, that is done before others are tried.
        """
        candidate, live = tried[0], tried[1].edited
        lines = line_maps(self.target, candidate.files, built.candidate.files if built.candidate is not None else {})
        if not (_may_go_on(candidate) and self._uncovers(case, built, (candidate, live), lines)):
            return []
        if case.pool.quick or not agrees(tried[1]):
            return [(candidate, live)]
        for waiting, _ in left:
            case.pool.drop(waiting.files)
        return [found for further in self._next([(candidate, live)]) for found in self._try(case, further)]

    def _uncovers(
        self, case: Case, built: Built, tried: tuple[Candidate, wire.Trace], lines: Mapping[str, Sequence[int]]
    ) -> bool:
        """Whether a run failed of something further. Where several tensors are spoiled, a trace tells which one."""
        candidate, live = tried
        if not (again(live, built.run, lines) or case.ended(live, candidate.files) is RunOutcome.SAME_FAILURE):
            return uncovers(candidate, live, built.run)
        if not built.diagnosis.trace.also:
            return False
        explained = self._explained(candidate, live)
        return explained is not None and is_of_another(explained.trace, built.diagnosis.trace, lines)

    def _has_waited(self, case: Case, left: int) -> bool:
        """Whether somebody has waited long enough, longer where no edit runs yet; it is told what is left out."""
        pool, runs = case.pool, bool(self.fixes)
        none = runs and bool(pool.too_few)
        most = pool.most(in_vain=not runs)
        if not none and pool.computed <= most:
            return False
        more = f"{left} more edit{'s were' if left != 1 else ' was'}" if left else "edits built upon others were"
        why = "no edit can be compared in this time; a larger --budget goes on for longer"
        if not none:
            where = "once an edit gets past the failure" if runs else "while no edit gets past the failure"
            why = (
                f"its runs took {pool.computed:.0f} s of processor time, and may take {most:.0f} s {where}; "
                f"--budget {pool.larger_budget} allows twice as much"
            )
        self.untried = self.untried or f"{more} not tried: {why}"
        return True

    def _telling(self, case: Case, queue: list[_Waiting]) -> list[_Waiting]:
        """What is left to build upon another edit: nothing that breaks the script without that, too.

        Where runs are dear, nothing that would run past without that either.
        """
        known = self.broken + self.fixes * (not case.pool.quick)
        return [one for one in queue if not only_adds(diff(self.target, one[0]), known)]

    def _worth(self, case: Case, queue: list[_Waiting], built: Built) -> list[_Waiting]:
        """What is left to try beside a safe edit, if one is known; runs of the others end."""
        if not any(fix.verdict.applicability is Applicability.SAFE for fix in self.fixes):
            return queue
        kept = still_worth_a_run([candidate for candidate, _ in queue], self.fixes) if case.pool.quick else []
        for candidate, evidence in queue:
            if candidate not in kept:
                case.pool.drop(candidate.files)
                self.left.append((built, (candidate, evidence)))
        return [waiting for waiting in queue if waiting[0] in kept]

    def _next(self, found: list[tuple[Candidate, wire.Trace]]) -> Iterator[Built]:
        """What the next level builds upon, each explained when its turn comes: the first one often ends the search."""
        built = (
            Built(diagnosis, candidate, live)
            for candidate, live in in_turn(found)[: 2 * _CHAINS]
            if live.failure is not None
            and (diagnosis := self._explained(candidate, live)) is not None
            and diagnosis.cause is not Cause.OTHER
        )
        return itertools.islice(built, _CHAINS)

    def _explained(self, candidate: Candidate, live: wire.Trace) -> Diagnosis | None:
        key = _key(candidate)
        if key not in self.explained:
            self.explained[key] = None
            with contextlib.suppress(first.Broken):  # other edits may do without
                self.explained[key] = first.diagnosis(self.probe, self.target, live, candidate.files)
        return self.explained[key]


def _foresee_beside(tried: Evidence, other: Evidence) -> None:
    """Ask for the runs of another edit, unless runs are dear and the one that is tried keeps the gradients.

    That one likely ends the search: then those of the others would be made in vain.
    """
    known, pool = tried.assessed, tried.case.pool
    if known is not None and known.effect.keeps_gradients and not pool.quick:
        pool.drop(other.files)
    else:
        foresee(other)


def _may_go_on(candidate: Candidate) -> bool:
    """Whether a chain may become longer yet."""
    return len(candidate.rules) < DEPTH or (_is_one_cure(candidate) and len(candidate.rules) < _PLACES)


def _is_one_cure(candidate: Candidate) -> bool:
    """Whether each edit of a chain does the same, at another place."""
    return len(set(zip(candidate.rules, candidate.titles, strict=True))) == 1


def _key(candidate: Candidate) -> frozenset[tuple[Path, bytes]]:
    return frozenset(candidate.files.items())
