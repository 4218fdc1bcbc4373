"""Runs a batch: hands out jobs, keeps the journal, renders what came out. Started again, it goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autofix.batch import pages, patches, results, worktree
from autofix.batch.engines import Engine
from autofix.batch.journal import Journal, Row
from autofix.batch.progress import Progress
from autofix.batch.records import Event, Job, Repository
from autofix.batch.results import FAILING, RAN, RETRIED, Shown
from autofix.core import git
from autofix.core.model import Outcome
from autofix.core.write import WriteRefused, put

CHUNK = 8
"""How many targets of one repository a job runs; the others become jobs of their own."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with the repositories, and with what comes out."""

    repositories: tuple[Repository, ...]
    out: Path
    write: bool = False
    unsafe: bool = False
    branch: str = ""
    author: tuple[str, str] = ("autofix", "autofix@localhost")
    fail_fast: bool = False
    retry_failed: bool = False
    check: bool = False
    chunk: int = CHUNK


class Batch:
    """One run of a plan."""

    def __init__(self, plan: Plan, journal: Journal, engine: Callable[[], Engine], progress: Progress) -> None:
        self._plan, self._journal, self._start, self._progress = plan, journal, engine, progress
        self._out: dict[str, int] = {}  # jobs under way, of each repository that was looked at
        self._notes: dict[str, str] = {}
        self._stopped = False

    def run(self) -> list[Shown]:
        """Do all that is not done yet. Interrupted, it renders what there is and lets the interruption pass."""
        try:
            self._work()
        finally:
            shown = self.shown()
            render(self._plan, shown)
        return shown

    def _work(self) -> None:
        jobs = deque(self._job(one) for one in self._plan.repositories)
        if not jobs:
            return
        engine = self._start()
        running = 0
        try:
            while jobs or running:
                while jobs and running < engine.room and not self._stopped:
                    engine.submit(jobs.popleft())
                    running += 1
                if not running:
                    return
                job, event = engine.next()
                if event is None:
                    running -= 1
                    jobs.extendleft(self._ended(job))
                else:
                    jobs.extendleft(reversed(self._taken(job, event)))
        finally:
            engine.close()

    def _job(self, one: Repository) -> Job:
        row = self._journal.row(one.name)
        if row is not None and self._plan.retry_failed:
            self._journal.forget(one.name, RETRIED)
            row = self._journal.row(one.name)
        if row is not None and row.complete:
            self._deliver(one, row)  # a run that was ended after the last target and before this
            row = self._journal.row(one.name)
        settled = (row.written or row.found.key) if row is not None and row.complete else ""
        return Job(one, most=self._plan.chunk, settled=settled, known=self._journal.known(one.name))

    def _taken(self, job: Job, event: Event) -> list[Job]:
        """Note an event; returns the jobs that follow from it."""
        name = job.repository.name
        if event.found is not None:
            self._out.setdefault(name, 1)
            self._journal.found(name, event.found)
            self._progress.found(name, event.found, self._held(name))
        elif event.kind == "settled":
            self._progress.settled(name, self._held(name))
        elif event.result is not None:
            self._journal.add(name, event.result)
            self._progress.result(name, event.result)
            bad = Outcome(event.result.outcome) not in RAN
            self._stopped = self._stopped or (self._plan.fail_fast and bad)
        elif event.kind == "joined":
            self._journal.joined(name, event.apart)
        elif event.rest:
            rest, size = event.rest, self._plan.chunk
            row = self._journal.row(name)
            key = row.found.key if row is not None else ""
            more = [Job(job.repository, rest[n : n + size], key, size) for n in range(0, len(rest), size)]
            self._out[name] += len(more)
            return more
        return []

    def _held(self, name: str) -> tuple[str, ...]:
        """The groups of those of a repository's targets that need no new run."""
        row = self._journal.row(name)
        found = row.results if row is not None else ()
        return tuple(results.group(result, Outcome(result.outcome)) for result in found)

    def _ended(self, job: Job) -> list[Job]:
        """One job of a repository is done; after the last one its fixes are put together, and delivered."""
        name = job.repository.name
        if name not in self._out:
            return []
        self._out[name] -= 1
        row = self._journal.row(name)
        if self._out[name] or row is None or len(row.results) < len(row.found.entries):
            return []
        if row.apart is None and (steps := patches.entangled(row.results)):
            self._out[name] = 1
            return [Job(job.repository, key=row.found.key, together=steps)]
        del self._out[name]
        self._journal.complete(name)
        self._deliver(job.repository, row)
        self._progress.finished(name)
        return []

    def _deliver(self, one: Repository, row: Row) -> None:
        """Bring the fixes to where the repository lies, as far as was asked for; one elsewhere has its patch."""
        joined = self._joined(row)
        if one.remote or not joined.steps:
            return
        try:
            if self._plan.branch and row.branch != self._plan.branch:
                patches.make_branch(one, joined, row.found.revision, self._plan.branch, self._plan.author)
                self._journal.branched(one.name, self._plan.branch)
        except git.GitError as error:
            self._notes[one.name] = f"no branch was made: {error}"
        try:
            if self._plan.write and not one.revision and not row.written:
                patches.apply_to_checkout(one, joined)
                self._journal.written(one.name, one.key(worktree.look(one).stamp))
        except (WriteRefused, worktree.Unusable) as error:
            self._notes[one.name] = f"nothing was written: {error}"

    def _joined(self, row: Row) -> patches.Joined:
        return patches.join(row.results, unsafe=self._plan.unsafe, apart=row.apart)

    def shown(self) -> list[Shown]:
        """What the journal holds of this plan's repositories, with their patches made."""
        taken: set[str] = set()
        return [self._shown(one, patches.file_name(one.name, taken)) for one in self._plan.repositories]

    def _shown(self, one: Repository, name: str) -> Shown:
        row = self._journal.row(one.name)
        if row is None:
            return Shown(one, "", "not looked at yet", "", ())
        joined = self._joined(row)
        patch = f"patches/{name}.patch" if joined.steps and not self._plan.check else ""
        if patch:
            put(self._plan.out / patch, joined.patch)
        message = self._notes.get(one.name) or row.found.message
        held = frozenset(step.result.command for step in joined.steps)
        return Shown(
            one, row.found.revision, message, row.found.problem, row.results, patch, held, joined.apart, row.branch,
            bool(row.written), f"repositories/{name}.html",
        )  # fmt: skip


def render(plan: Plan, shown: Sequence[Shown]) -> None:
    """Write everything that is made of the journal; what is no longer true goes."""
    put(plan.out / "results.sarif", results.sarif(shown).encode())
    if plan.check:
        return
    for folder, wanted in (("patches", {one.patch for one in shown}), ("repositories", {one.page for one in shown})):
        if (plan.out / folder).is_dir():
            for path in (plan.out / folder).iterdir():
                if f"{folder}/{path.name}" not in wanted:
                    path.unlink(missing_ok=True)
    put(plan.out / "summary.json", results.summary(shown).encode())
    put(plan.out / "junit.xml", results.junit(shown))
    for name, page in pages.pages(shown):
        put(plan.out / name, page.encode("utf-8", "replace"))


def status(shown: Sequence[Shown]) -> int:
    """0: nothing fails in autograd any more; 1: verified fixes wait to be applied; 3: failures without a fix."""
    left = [(one, result) for one in shown for result in one.results if one.outcome(result) in FAILING]
    if not left:
        return 0
    return 1 if any(result.command in one.patched for one, result in left) else 3
