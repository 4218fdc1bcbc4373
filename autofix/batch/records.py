"""What moves between the driver, its engines and their workers: small frozen records that survive a pipe."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field

from autofix import __version__
from autofix.core.limits import RunOptions

UNFENCED = ("copy", "none")
"""Isolation that a batch takes only when it is asked for by name."""


@dataclass(frozen=True, slots=True)
class Terms(RunOptions):
    """How a repository's targets are found and run; all of it is the operator's word, never the repository's."""

    time_limit: float = 60.0
    memory_limit: int = 4 << 30
    setup: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    pytest: bool = False
    rounds: int = 50
    """Steps after which a target that has not failed is ended; 0: it may go on to its limit."""
    setup_limit: float = 900.0


@dataclass(frozen=True, slots=True)
class Repository:
    """One thing to bring over: `name` as it is shown, `source` a folder or an address that git can fetch."""

    name: str
    source: str
    revision: str = ""
    options: Terms = field(default_factory=Terms)

    @property
    def remote(self) -> bool:
        return "://" in self.source or self.source.startswith("git@")

    def key(self, stamp: str) -> str:
        """What a result is good for: these contents, run by this version, in this way."""
        facts = [stamp, __version__, self.revision, asdict(self.options)]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Job:
    """A worker's errand: look a repository over and run its targets, or `only` some of them.

    With results to put `together`, it is to see whether their fixes hold when all of them are made.

    `settled` is the key under which the journal holds the repository complete, `known` those of targets it holds,
    `key` the repository's own where `only` some targets are asked for.
    """

    repository: Repository
    only: tuple[str, ...] = ()
    key: str = ""
    most: int = 8
    settled: str = ""
    known: tuple[str, ...] = ()
    together: tuple[Result, ...] = ()


def target_key(key: str, command: str) -> str:
    """The key of one target of a repository with this key."""
    return hashlib.sha256(f"{key}:{command}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Entry:
    """A target by its command line, and the key that its result will be kept under."""

    command: str
    key: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at a repository gave; `problem` says why none of it can be run."""

    key: str
    revision: str = ""
    entries: tuple[Entry, ...] = ()
    message: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """New text for a range of a file's bytes."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a fix: its bytes before and after as latin-1 text, and the replacements that lead there."""

    file: str
    before: str
    after: str
    replacements: tuple[Replacement, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What a run showed that crashes nothing: a line of the copy, and the further lines that belong to it."""

    code: str
    message: str
    sure: bool
    place: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one target: always small, always complete."""

    command: str
    key: str
    outcome: str
    file: str = ""
    message: str = ""
    cause: str = ""
    headline: str = ""
    line: int = 0
    column: int = 0
    rules: tuple[str, ...] = ()
    title: str = ""
    why: str = ""
    applicability: str = ""
    effect: str = ""
    summary: str = ""
    doubts: tuple[str, ...] = ()
    diff: str = ""
    changes: tuple[Change, ...] = ()
    left: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    audit: str = ""
    """Who trains what, and the laws, as lines of text."""
    sarif: str = ""
    isolation: str = ""
    torch: str = ""
    seconds: float = 0.0
    calls: int = 0
    """Backward calls of the script as it stands."""
    ran: str = ""
    """The command line that ran, where it is not `command` itself."""
    tried: tuple[str, ...] = ()
    """Other command lines that did not help, and what each came to."""

    @property
    def typed(self) -> str:
        """The command line that what is told here was seen under."""
        return self.ran or self.command

    @property
    def safe(self) -> bool:
        return bool(self.changes) and self.applicability == "safe"


@dataclass(frozen=True, slots=True)
class Event:
    """One line from a worker. Kinds: settled, found, began, result, ended, joined, done."""

    kind: str
    found: Found | None = None
    command: str = ""
    result: Result | None = None
    rest: tuple[str, ...] = ()
    apart: dict[str, str] = field(default_factory=dict)
