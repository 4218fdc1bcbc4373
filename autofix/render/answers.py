"""What the Python API and the tools for agents answer: records named as in docs/schema.json, without its bulk."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from autofix.check.finding import Checked
from autofix.core.model import Report
from autofix.render.machine import document
from autofix.render.snapshot import Snapshot

# None of these has slots: the tools for agents read their fields' defaults off the class, where slots stand in the way.
Record = TypeVar("Record", "Answer", "Change", "Culprit", "Doubt", "Failure", "Fix", "Suspicion")


@dataclass(frozen=True)
class Failure:
    """The exception that the unedited script died of, and where; lines and columns count from 1, in characters."""

    cause: str
    type: str
    message: str
    file: str | None
    line: int | None
    column: int | None


@dataclass(frozen=True)
class Culprit:
    """A line that explains the failure, in the order in which things happened, and in `message` what it did.

    Roles: failed, freed, shared, used, saved, written, stepped, and more. An aside only adds detail.
    """

    role: str
    note: str
    message: str
    aside: bool
    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Change:
    """A parameter whose gradient differs from what the code describes, at a step counted from 0.

    `reference` and `candidate` are norms, of the code and of the edit; None where not finite. Where `note` says that
    something else differs, they are its counts or norms.
    """

    parameter: str
    step: int
    reference: float | None
    candidate: float | None
    note: str


@dataclass(frozen=True)
class Doubt:
    """Why an edit that gets past the failure is not called safe, and the line it is about, if there is one."""

    name: str
    detail: str
    file: str | None
    line: int | None


@dataclass(frozen=True)
class Fix:
    """An edit that was run: one that a rule made, or the one that was offered (then `rules` is empty).

    `applicability`: safe, unsafe or display-only. `effect`: identical, refreshed, truncated, refreshed+truncated,
    meant, changed or unknown. `run`: how its run ended. `diff` is a unified diff; apply it with `git apply`.
    """

    rules: list[str]
    title: str
    why: str
    applicability: str
    run: str
    effect: str
    summary: str
    guards: list[Doubt]
    changed: list[Change]
    diff: str

    @property
    def safe(self) -> bool:
        """Whether it is proved to keep the gradients that the code describes."""
        return self.applicability == "safe"


@dataclass(frozen=True)
class Suspicion:
    """A fault that crashes nothing, which the unedited run showed."""

    code: str
    name: str
    message: str
    file: str
    line: int


@dataclass(frozen=True)
class Answer:
    """What `fix` or `verify` found out.

    `outcome` of fix: fixed (written), available, clean (nothing fails), unfixed; of verify: safe, unsafe,
    still_failing, clean (the original does not fail: nothing was judged); of both, where the work could not be done:
    other_failure, no_failure_within_limit, timed_out, memory_exceeded, output_exceeded, processes_exceeded, crashed,
    instrument_failed, cannot_run. `advice` is the whole in sentences. `fixes`: best first; of verify, the edit that was
    judged. `applied`: which of them was written. `conditions`: how the runs departed from the script; every verdict
    holds under these.
    """

    outcome: str
    message: str
    advice: list[str]
    script: str
    failure: Failure | None
    culprits: list[Culprit]
    fixes: list[Fix]
    rejected: list[Fix]
    suspicions: list[Suspicion]
    conditions: list[str]
    applied: int | None
    torch: str
    python: str | None

    @property
    def safe(self) -> bool:
        """Whether the first of `fixes`, or the edit that was judged, is proved to keep the gradients."""
        return bool(self.fixes) and self.fixes[0].safe

    def __str__(self) -> str:
        return "\n".join(self.advice)


@dataclass(frozen=True)
class Finding:
    """A suspicious site that `check` saw in the text; not verified."""

    file: str
    line: int
    column: int
    code: str
    name: str
    message: str


@dataclass(frozen=True)
class Findings:
    """What `check` saw, how many files it read, and which it could not read, as `path: reason`."""

    files: int
    findings: list[Finding]
    problems: list[str]


def answer(report: Report, snapshot: Snapshot) -> Answer:
    """The answer that a report comes to."""
    found = document(report, snapshot)
    failure = found["failure"]
    lists: dict[str, Any] = {
        "culprits": [_record(Culprit, one) for one in found["culprits"]],
        "fixes": [_fix(one) for one in found["fixes"]],
        "rejected": [_fix(one) for one in found["rejected"]],
        "suspicions": [_record(Suspicion, one) for one in found["suspicions"]],
    }
    failed = _record(Failure, failure) if failure is not None else None
    return _record(Answer, {**found, **lists, "failure": failed})


def findings(checked: Checked) -> Findings:
    """The findings of a check."""
    found = [Finding(one.path, one.line, one.column, one.code, one.name, one.message) for one in checked.findings]
    return Findings(checked.files, found, [f"{path}: {reason}" for path, reason in checked.problems])


def plain(record: Any) -> Any:
    """A record as dictionaries and lists, for JSON."""
    return asdict(record)


def _fix(found: dict[str, Any]) -> Fix:
    guards = [_record(Doubt, one) for one in found["guards"]]
    return _record(Fix, {**found, "guards": guards, "changed": [_record(Change, one) for one in found["changed"]]})


def _record(kind: type[Record], found: dict[str, Any]) -> Record:
    return kind(**{field.name: found[field.name] for field in fields(kind)})
