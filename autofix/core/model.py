"""The records that move down the street from Target to Report, and the words they use."""

from __future__ import annotations

import enum
import re
import traceback
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path

from autofix.core.edit import Edit
from autofix.core.limits import Bounds
from autofix.probe import wire


class Cause(enum.StrEnum):
    """The families of failures. The probe's trace decides, never the words of the message."""

    FREED_GRAPH = "freed_graph"
    SAVED_TENSOR_MODIFIED = "saved_tensor_modified"
    LEAF_MODIFIED = "leaf_modified"
    VIEW_MODIFIED = "view_modified"
    NONLEAF_GRADIENT = "nonleaf_gradient"
    NO_GRAPH = "no_graph"
    NONSCALAR_BACKWARD = "nonscalar_backward"
    COMPLEX_LOSS = "complex_loss"
    CONVERSION = "conversion"
    INFERENCE_TENSOR = "inference_tensor"
    UNUSED_INPUT = "unused_input"
    GRADIENT_NONE = "gradient_none"
    PARAMETER_ASSIGNED = "parameter_assigned"
    CHECKPOINT_REFUSED = "checkpoint_refused"
    REDUCER_REFUSED = "reducer_refused"
    HOOK_REFUSED = "hook_refused"
    OUT_REFUSED = "out_refused"
    GRADIENTS_MISCOUNTED = "gradients_miscounted"
    GRADIENT_MISSHAPEN = "gradient_misshapen"
    RECOMPUTED_OTHERWISE = "recomputed_otherwise"
    DIFFERENTIATED_ONCE = "differentiated_once"
    LEGACY_FUNCTION = "legacy_function"
    SAVED_NO_TENSOR = "saved_no_tensor"
    OTHER = "other"


class Outcome(enum.StrEnum):
    """What a whole `fix` or `verify` came to."""

    FIXED = "fixed"
    AVAILABLE = "available"
    CLEAN = "clean"
    UNFIXED = "unfixed"
    OTHER_FAILURE = "other_failure"
    NO_FAILURE_WITHIN_LIMIT = "no_failure_within_limit"
    TIMED_OUT = "timed_out"
    MEMORY_EXCEEDED = "memory_exceeded"
    OUTPUT_EXCEEDED = "output_exceeded"
    PROCESSES_EXCEEDED = "processes_exceeded"
    CRASHED = "crashed"
    INSTRUMENT_FAILED = "instrument_failed"
    CANNOT_RUN = "cannot_run"
    SAFE = "safe"
    UNSAFE = "unsafe"
    STILL_FAILING = "still_failing"


class Effect(enum.StrEnum):
    """What an edit does to the gradients that optimizers use, against the author's code."""

    IDENTICAL = "identical"
    REFRESHED = "refreshed"
    TRUNCATED = "truncated"
    REFRESHED_TRUNCATED = "refreshed+truncated"
    MEANT = "meant"
    CHANGED = "changed"
    UNKNOWN = "unknown"

    @property
    def keeps_gradients(self) -> bool:
        """Whether every parameter gets the gradient that the code, or the one reading of it that is left, describes."""
        return self not in (Effect.CHANGED, Effect.UNKNOWN)

    @property
    def refreshes(self) -> bool:
        """Whether gradients are those of newer parameters than the code as written uses."""
        return self in (Effect.REFRESHED, Effect.REFRESHED_TRUNCATED)

    @property
    def truncates(self) -> bool:
        """Whether no gradient flows from one pass into an earlier one."""
        return self in (Effect.TRUNCATED, Effect.REFRESHED_TRUNCATED)


class Applicability(enum.StrEnum):
    """How far a fix may be trusted; a rule's is a ceiling, above which only a law or an answer lifts an edit."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY_ONLY = "display-only"

    def lowered(self, *others: Applicability) -> Applicability:
        """The least trusting of this and `others`."""
        return max((self, *others), key=list(Applicability).index)


class RunOutcome(enum.StrEnum):
    """How a candidate's own run ended."""

    PASSED = "passed"
    FINISHED = "finished"
    SAME_FAILURE = "same_failure"
    OTHER_FAILURE = "other_failure"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    INSTRUMENT_FAILED = "instrument_failed"


MAY_BE_AUTOGRAD = frozenset({"RuntimeError", "ValueError"})
"""Types of exceptions that may be autograd's although nothing that saw them knows their kind."""
_OF_ANYTHING = {"AttributeError", "TypeError"}
_NEAR_AUTOGRAD = re.compile(r"NoneType|TypeError .*[\\/]torch[\\/]|backward|grad(?![a-z])", re.DOTALL)
"""What an error of such a type says, or its line, where it may be autograd's: no gradient yet, a number's `backward`, a
parameter's name that holds a result (which torch's own file refuses)."""


@dataclass(frozen=True, slots=True)
class Crash:
    """How a real run died, after how many seconds, and the innermost file and line it came through."""

    type: str
    message: str
    seconds: float
    line: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Crash:
        """The crash by an exception that was caught."""
        line = "".join(f"{frame.filename} {frame.line}" for frame in traceback.extract_tb(error.__traceback__)[-1:])
        return cls(type(error).__name__, str(error), 0.0, line)

    @property
    def may_be_autograd(self) -> bool:
        """Whether it is worth running again under instruments, which alone can tell."""
        said = f"{self.type} {self.message} {self.line}"
        return self.type in MAY_BE_AUTOGRAD or (self.type in _OF_ANYTHING and _NEAR_AUTOGRAD.search(said) is not None)


@dataclass(frozen=True, slots=True)
class Target(Bounds):
    """What to run: a script or a module, its arguments, and the bounds of every run of it."""

    script: Path
    argv: tuple[str, ...] = ()
    module: str | None = None
    cwd: Path | None = None
    root: Path | None = None
    python: Path | None = None
    setup: wire.Setup = field(default=wire.Setup(), hash=False)
    crash: Crash | None = None
    """How it died when it was run for real, where it was."""
    buffers: dict[Path, bytes] = field(default_factory=dict, hash=False)
    """What stands in for files on disk: an editor's unsaved text."""

    @property
    def project(self) -> Path:
        """The folder whose files are the user's."""
        return self.root or self.script.parent

    def read(self, path: Path) -> bytes:
        """A file as this target has it; raises OSError where there is none."""
        return self.buffers[path] if path in self.buffers else path.read_bytes()


@dataclass(frozen=True, slots=True)
class Culprit:
    """A line of the user's code that explains the failure, and the part it played.

    Roles: built, made, saved, shared, carried, stored, used_earlier, freed, written, stepped, stale, cut, called, used,
    gave_none, failed. `also`: further parts that the same line played. `note`: names of variables, or an operation. An
    aside adds detail that few readers need.
    """

    role: str
    frame: wire.Frame
    note: str = ""
    also: tuple[str, ...] = ()
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A cause with its evidence: the failure, the lines that explain it, and the trace they were read from."""

    cause: Cause
    failure: wire.Failure
    culprits: tuple[Culprit, ...]
    trace: wire.Trace
    declined: str = ""

    @property
    def crossed(self) -> list[wire.Crossing]:
        """What the failing backward took of a graph that an earlier one went through."""
        return [one for one in self.trace.crossings if one.by == "failing"]

    def lost(self, kind: str) -> list[wire.Stack]:
        """Where what the failure is about was made as it should not be, by one kind of origin."""
        return [one.stack for one in self.trace.origins if one.kind == kind]

    @property
    def asked(self) -> wire.Stack:
        """Where a derivative was asked for that could not be given: the failing call, or one that gave a None."""
        return next((one.stack for one in self.trace.origins if one.kind in wire.NONE_GIVEN), self.failure.stack)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Proposals applied together, as new contents of files; `rules` and `titles` in the order of the chain.

    `conventional`: it does what the field does where the code does not say.
    """

    rules: tuple[str, ...]
    titles: tuple[str, ...]
    whys: tuple[str, ...]
    rank: tuple[int, ...]
    files: dict[Path, bytes]
    edits: tuple[Edit, ...] = ()
    applicability: Applicability = Applicability.SAFE
    conventional: bool = False

    @property
    def why(self) -> str:
        """Why it works; what holds of several proposals alike is said once."""
        return " ".join(dict.fromkeys(self.whys))

    @property
    def title(self) -> str:
        """What all its steps do, what is done at several places said once."""
        places = Counter(self.titles)
        return "; then ".join(f"{one}, at {n} places" if n > 1 else one for one, n in places.items())

    @property
    def codes(self) -> str:
        """The codes of its rules, each once."""
        return "+".join(dict.fromkeys(self.rules))


@dataclass(frozen=True, slots=True)
class Change:
    """A parameter whose used gradient differs from the reference: at which step, and how.

    `relative` is how far apart the two are, direction and all, beside the larger of them; 0 where both are next to
    nothing, and where the change is none of a gradient, as `note` says. `rhythm`: it is one of how the steps and the
    backward calls follow each other, or a step is gone.
    """

    parameter: str
    step: int = 0
    reference: float = 0.0
    candidate: float = 0.0
    note: str = ""
    relative: float = 0.0
    rhythm: bool = False


class Refused(enum.StrEnum):
    """What an operation that torch refuses is taken for: a change of values alone, or a part of the forward."""

    UPDATE = "update"
    OPERATION = "operation"


REWRITTEN = ("begun", "at_once", "registered", "emptied", "old_values", "input_kept", "copied", "sampled")
"""The changes of a reading that no run of the program as it stands can show, the first of which decides."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One hypothesis on what the program computes: the letter of the code, or the letter with named changes.

    `truncated`: no gradient flows into earlier passes; `separated`: each step uses its own loss alone. `apart`: these
    backward calls leave no gradient in the parameters of these optimizers. `old_values`: a name that was bound before
    a write keeps the value that it had. `constant`: no gradient flows into what is made once for several passes.
    `addends`: of a loss that grows from one backward to the next, each addend is trained once. `sent_once`: a
    gradient that one call has sent on from a tensor is not sent on by another that starts there. `copied`: a write to a
    part of a tensor goes to a copy, so that what was bound before keeps the value that it had. `through`: what the
    derivatives at these places give has a graph, and they leave no gradient in what optimizers own. `uncut`: the graph
    is not cut at this place. `averages`: averages that passes hand on are constants, in the pass that makes them too.
    `off`: what is computed where gradients are off has them for the backward calls in there alone. `targets`: what
    these losses are given as their target, or these products as a weight, is a constant. `by_call`: what a backward
    call leaves to the next at its place is a constant to that, though no step lies between. `input_kept`: what a pass
    makes of the value that it finds somewhere does not take its place, so that each pass begins with the same. `begun`:
    what a pass leaves is forgotten, so that the next one begins with the start that only the first one reads.
    `uncleared`: a gradient that is read after it was cleared is what it was. `measured`: the difference that is taken
    at this place is a constant. `at_once`: each of several writes in turn reads what was before them. `registered`:
    parameters that a module keeps only by what it computed from them have a name in it. `for_a_pass`: what a pass
    writes into what an optimizer owns goes to a copy, which that pass alone has. `emptied`: lists that a loss pairs are
    emptied together. `sampled`: a sample that leaves torch is a constant from where it is drawn.
    """

    refused: Refused = Refused.UPDATE
    truncated: bool = False
    separated: bool = False
    apart: tuple[wire.KeptOut, ...] = ()
    old_values: bool = False
    constant: bool = False
    addends: bool = False
    sent_once: bool = False
    copied: bool = False
    through: tuple[wire.Stack, ...] = ()
    uncut: wire.Stack = ()
    averages: bool = False
    off: bool = False
    targets: tuple[wire.Given, ...] = ()
    by_call: bool = False
    input_kept: bool = False
    begun: bool = False
    uncleared: bool = False
    measured: wire.Stack = ()
    at_once: bool = False
    registered: bool = False
    for_a_pass: bool = False
    emptied: bool = False
    sampled: bool = False

    @property
    def letter(self) -> Reading:
        """The reading that changes nothing but what torch refuses."""
        return Reading(self.refused)

    @property
    def rewritten(self) -> str:
        """The change for which its reference runs a program that is written otherwise; '' where none needs that."""
        return next((name for name in REWRITTEN if getattr(self, name)), "")

    def __str__(self) -> str:
        changes = (one.name for one in fields(self) if one.name != "refused" and getattr(self, one.name))
        told = [name.replace("_", " ") for name in changes] or ["full"]
        return "+".join([*told, *[self.refused.value] * (self.refused is Refused.OPERATION)])


class Treatment(enum.StrEnum):
    """How parameters move from pass to pass.

    LIVE: as they are trained. FROZEN: each step is undone, and they drift a little. STILL: each step is undone, and
    they stay where they are.
    """

    LIVE = "live"
    FROZEN = "frozen"
    STILL = "still"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, treated alike, whose gradients were compared."""

    treatment: Treatment
    reference: wire.Trace
    candidate: wire.Trace


@dataclass(frozen=True, slots=True)
class Assessment:
    """What an edit does to the gradients, in a sentence, against the `reading` that it equals or comes nearest to.

    `reading` is None where the edit equals none. `starves`: the program speaks against what the edit means, and
    something that an optimizer owns never has a gradient with it. `newer`: what it computes again has newer parameters
    than the reading that is meant.
    """

    effect: Effect
    sentence: str
    changes: tuple[Change, ...] = ()
    reading: Reading | None = None
    starves: bool = False
    newer: bool = False

    @property
    def refreshes(self) -> bool:
        """Whether gradients are those of newer parameters than the reading uses."""
        return self.newer or self.effect.refreshes


@dataclass(frozen=True, slots=True)
class Finding:
    """A property that lowers the trust in an edit, the sentence that says why, and the frames that show where."""

    property: str
    sentence: str
    place: wire.Stack = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate's run, its effect on the gradients, and what lowers the trust in it.

    `failure` is what ended the run; of a candidate that passed, another failure that the script has as it stands.
    `starves` is that of its `Assessment`.
    """

    run: RunOutcome
    effect: Effect
    applicability: Applicability
    summary: str
    findings: tuple[Finding, ...] = ()
    changes: tuple[Change, ...] = ()
    reading: Reading | None = None
    detail: str = ""
    seconds: float = 0.0
    peak_bytes: int = 0
    failure: wire.Failure | None = None
    starves: bool = False
    compared: tuple[Comparison, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fix:
    """A candidate with its verdict and its unified diff; `originals`: the files as they were judged against."""

    candidate: Candidate
    verdict: Verdict
    diff: bytes
    originals: dict[Path, bytes] = field(default_factory=dict)
    shown: bytes = b""
    """The diff for people where the file's own says little: a notebook's, cell by cell."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a question: the `name` to give, what holds then as a clause, and the first offer that follows it.

    `means` is the reading that it names; None is a part computed anew in each pass. `offer` is an index into the fixes.
    """

    name: str
    clause: str
    means: Reading | None
    offer: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What the code leaves open: two readings that train differently, of which no run can tell the one meant.

    `about` is the property that doubts edits for it, `key` the name under which an answer is kept, `chosen` the name of
    the answer that was given. `outdated` tells of an answer to code that has changed since. `shows`: the readings may
    train alike, but what the script shows in the end tells them apart.
    """

    about: str
    text: str
    place: wire.Stack
    answers: tuple[Answer, ...]
    key: str = ""
    chosen: str = ""
    outdated: str = ""
    shows: bool = False

    @property
    def answer(self) -> Answer | None:
        """The answer that was given."""
        return next((one for one in self.answers if one.name == self.chosen), None)


@dataclass(frozen=True, slots=True)
class Note:
    """Something tried or declined, and why."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Hint:
    """What is usually done at a line, in the words of a rule that has no edit to offer."""

    rule: str
    sentence: str
    frame: wire.Frame


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A fault that crashes nothing and that the unedited run showed; `code` and `name` are those of its pattern.

    `others` are further lines that belong to it. What is not `sure` is often meant: it is told, and is no alarm.
    """

    code: str
    name: str
    message: str
    frame: wire.Frame
    others: tuple[wire.Frame, ...] = ()
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one `fix` or `verify` found out. `applied` is an index into `fixes`."""

    target: Target
    outcome: Outcome
    diagnosis: Diagnosis | None = None
    fixes: tuple[Fix, ...] = ()
    rejected: tuple[Fix, ...] = ()
    notes: tuple[Note, ...] = ()
    hints: tuple[Hint, ...] = ()
    """Where no fix was found, what is usually done instead."""
    suspicions: tuple[Suspicion, ...] = ()
    books: wire.Books | None = None
    """Who trains what, where a run was audited."""
    question: Question | None = None
    """What has to be said before an edit can be safe, or what was answered."""
    applied: int | None = None
    message: str = ""
    failure: wire.Failure | None = None
    """The exception that ended the unedited script, and `traceback`: as Python prints it."""
    traceback: str = ""
    isolation: str = ""
    wrote: tuple[str, ...] = ()
    """What the unedited script tried to write, and `reached`: what hosts it tried to reach."""
    reached: tuple[str, ...] = ()
    torch: str = ""
    calls: int = 0
    """Backward calls of the unedited script."""
    timings: dict[str, float] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    """How the runs departed from what the user's machine would do: what the verdicts hold under."""
    untried: str = ""
    """Which edits were not tried, and why; and what made each run long, where something else than training did."""
