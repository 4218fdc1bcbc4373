"""The runs that a verdict stands on: the references in each admissible reading, and a candidate's own runs.

Runs are begun as soon as what they need is known, and each is made once.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.aligned import opcodes
from autofix.compare import LIVE, comparable, differences
from autofix.model import Cause, Comparison
from autofix.probe import wire
from autofix.readings import OPERATION, UPDATE, ambiguous, contradiction, sites
from autofix.run import SHARE, Probe, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from autofix.model import Diagnosis, Target

GRACE = 0.15
"""Seconds for which runs go on beyond the passes asked for, where the script does not end by itself."""
_SLOWER = 6.0
_AT_LEAST = 20.0
"""Seconds that a candidate has at least: a new process on a busy machine takes long to start."""
_SLOW = 2.0
_WATCHED = 40
"""Backward calls before the failing one that a run watches, where the failing graph is not older."""
_FIRST = 3
"""Steps of each optimizer by which a run that differs from a reference mostly shows it."""
_NEED_SITES = (Cause.NONLEAF_GRADIENT, Cause.UNUSED_INPUT, Cause.NO_GRAPH)


class References:
    """The runs of one failing target. Live runs start from perturbed parameters, unless that changes how it fails.

    Perturbed, because a gradient that a zero-initialised layer hides would be equal whatever an edit does to it.
    """

    def __init__(
        self, probe: Probe, target: Target, baseline: wire.Trace, edited: Mapping[Path, bytes] | None = None
    ) -> None:
        """`edited`: the one edit to be judged, where it is known: what it removes must have run in the reference."""
        self.baseline = baseline
        self._probe = probe
        self._target = target
        self._removed = {str(path): _changed(data, target.read(path)) for path, data in (edited or {}).items()}
        self._edited = edited is not None
        self._sites: tuple[wire.Site, ...] = ()
        self._perturbed = True
        self._begun: dict[tuple[object, ...], tuple[int, wire.Request]] = {}
        self._done: dict[tuple[object, ...], wire.Trace] = {}
        self._bases: tuple[str, ...] = ()
        self.contradicted: dict[str, str] = {}
        self._proven: str | None = None
        self._noise: str | None = None

    def read(self, path: Path) -> bytes:
        """A file as the unedited script has it."""
        return self._target.read(path)

    def begin(self) -> None:
        """Start the first reference while the failure is still being traced, where nothing more need be known."""
        failure = self.baseline.failure
        if failure is not None and failure.kind not in _NEED_SITES:
            self._begin(("live", "full"), self._reference("full", frozen=False))

    def about(self, diagnosis: Diagnosis) -> None:
        """Learn what failed: at some places the reference then has to do what the script does not."""
        self._sites = sites(diagnosis)
        if self._sites:
            self.forget()

    @property
    def quick(self) -> bool:
        """Whether one more run costs little: then alternatives to a safe fix are worth theirs."""
        return self.live(self.bases()[0]).seconds < _SLOW

    def forget(self) -> None:
        """Give up all runs that were begun, and what they came to."""
        for number, _ in self._begun.values():
            self._probe.drop(number)
        self._begun.clear()
        self._done.clear()

    # References -----------------------------------------------------------------------------------------------------

    def live(self, name: str = "full") -> wire.Trace:
        """The reference of a reading: full, truncated, separated, or both; each also as operation."""
        return self._run(("live", name), lambda: self._reference(name, frozen=False))

    def frozen(self, name: str, *, still: bool = False) -> wire.Trace:
        """The same with each step undone; `still`: and without drift from round to round."""
        return self._run(
            ("frozen", name, still),
            lambda: replace(self._reference(name, frozen=True), still=still, shapes=still),
            urgent=True,
        )

    def nudged(self) -> wire.Trace:
        """The literal reference with results of autograd.grad, and of conversions that are refused, a little larger."""
        return self._run(("nudged",), lambda: replace(self._reference("full", frozen=False), nudged=True))

    def doubled(self) -> wire.Trace:
        """The literal reference where each backward, in the segment that failed, leaves twice as much."""
        after = sum(self.baseline.counts)
        return self._run(("doubled",), lambda: replace(self._reference("full", frozen=False), doubled=after))

    def candidate_nudged(self, files: Mapping[Path, bytes]) -> wire.Trace:
        """A candidate's run with results of autograd.grad that have no graph a little larger."""
        return self._run(("nudged", _key(files)), lambda: replace(self._candidate(files), nudged=True))

    def bases(self) -> tuple[str, ...]:
        """The references to compare with, at least one: one for each reading of a write that torch refuses."""
        if not self._bases:
            self._bases = ("full",)
            update = self.live("full")
            if ambiguous(update):
                self._bases = self._admissible(update, self.live(f"full+{OPERATION}"))
            elif self._sites and (why := contradiction(UPDATE, update, update)):
                self.contradicted = {UPDATE: why}
        return self._bases

    def _admissible(self, update: wire.Trace, operation: wire.Trace) -> tuple[str, ...]:
        against = {
            UPDATE: contradiction(UPDATE, update, operation),
            OPERATION: contradiction(OPERATION, operation, update),
        }
        self.contradicted = {reading: why for reading, why in against.items() if why}
        names = {UPDATE: "full", OPERATION: f"full+{OPERATION}"}
        kept = tuple(names[reading] for reading, why in against.items() if not why)
        return kept or tuple(names[reading] for reading in against)

    # Candidates -----------------------------------------------------------------------------------------------------

    def try_out(self, files: Mapping[Path, bytes]) -> None:
        """Begin the live run of a candidate."""
        self._begin(("candidate", _key(files)), self._candidate(files))

    def candidate(self, files: Mapping[Path, bytes], *, frozen: bool = False, still: bool = False) -> wire.Trace:
        """A candidate's run, to the event at which the reference ended."""
        key = ("candidate", _key(files), frozen, still) if frozen else ("candidate", _key(files))
        return self._run(key, lambda: self._candidate(files, frozen=frozen, still=still), urgent=True)

    def begin_frozen(self, files: Mapping[Path, bytes], names: Iterable[str]) -> None:
        """Begin the frozen runs of a candidate and of what it is compared with, side by side.

        Where all of `names`, the references to compare with, are done, it need not go on when it has left them.
        """
        for name in self.bases():
            self._begin(("frozen", name, False), self._reference(name, frozen=True), urgent=True)
        key = ("candidate", _key(files), True, False)
        done = [self._done.get(("frozen", name, False)) for name in names]
        known = [trace for trace in done if trace is not None]
        expected = tuple(map(_first_steps, known)) if len(known) == len(done) else ()
        self._begin(key, replace(self._candidate(files, frozen=True), expected=expected), urgent=True)

    def compared(self, name: str, files: Mapping[Path, bytes]) -> tuple[Comparison, ...]:
        """The runs of a reading and of a candidate that were made, side by side."""
        pairs = {
            "live": (("live", name), ("candidate", _key(files))),
            "frozen": (("frozen", name, False), ("candidate", _key(files), True, False)),
        }
        made = {kind: (self._done.get(one), self._done.get(other)) for kind, (one, other) in pairs.items()}
        return tuple(Comparison(kind, one, other) for kind, (one, other) in made.items() if one and other)

    def ended(self, files: Mapping[Path, bytes]) -> bool:
        """Whether the live run of a candidate, begun before, has come to its end."""
        key = ("candidate", _key(files))
        return key in self._done or (key in self._begun and self._probe.ended(self._begun[key][0]))

    def drop(self, files: Mapping[Path, bytes]) -> None:
        """Give up the runs of a candidate that is not wanted any more."""
        for key in (("candidate", _key(files)), ("candidate", _key(files), True, False)):
            if (begun := self._begun.pop(key, None)) is not None:
                self._probe.drop(begun[0])

    # Proof of the judge ---------------------------------------------------------------------------------------------

    def proven(self) -> str:
        """'' if an empty candidate fails as the script does, so that a pass means something; else the reason."""
        if self._proven is None:
            same = self.same_failure(self.candidate({}))
            if self._perturbed and (not same or comparable(self.live(self.bases()[0]))):
                # With other numbers the script goes another way. Then only the numbers that it has can be used.
                self.forget()
                self._perturbed, self._bases = False, ()
                same = self.same_failure(self.candidate({}))
            self._proven = "" if same else "the unedited script did not fail again under the judge's instruments"
        return self._proven

    def noise(self) -> str:
        """'' if two reference runs agree; else why no comparison can be believed."""
        if self._noise is None:
            name = self.bases()[0]
            again = run(self._probe, _ending_with(self._reference(name, frozen=False), self.live(name)))
            found = differences(self.live(name), again, LIVE)
            self._noise = "two runs of the unedited script differ: it draws on something unseeded" if found else ""
        return self._noise

    def same_failure(self, trace: wire.Trace) -> bool:
        """Whether a run failed where, and as, the unedited script failed."""
        failure, first = trace.failure, self.baseline.failure
        if failure is None or first is None:
            return False
        return failure.message == first.message and trace.backward_count == self.baseline.backward_count

    # What the script dies of besides ----------------------------------------------------------------------------------

    def _until_later(self, key: tuple[object, ...], request: wire.Request, trace: wire.Trace) -> wire.Trace:
        """A run that got past the failure and died later, of what the unedited script dies of too, as one that stopped.

        What is seen up to there is compared. Only the reference tells a failure of the script's own from one that an
        edit made: a run that dies earlier, elsewhere or of something else has failed.
        """
        if trace.outcome != "failed":
            return trace
        if key == ("live", "full"):
            alike = self._is_later(trace)
        else:
            full = self._done.get(("live", "full"))
            alike = (
                full is not None
                and died_later(full)
                and (_place(trace, request), trace.counts) == (_place(full), full.counts)
            )
        return replace(trace, outcome="stopped") if alike else trace

    def _is_later(self, trace: wire.Trace) -> bool:
        """Whether the literal reference died beyond the failure in question, of something that is not autograd's."""
        failure = trace.failure
        if failure is None or failure.in_backward or failure.kind or self.same_failure(trace):
            return False
        return _place(trace) is not None and trace.backward_count >= self.baseline.backward_count

    # Requests -------------------------------------------------------------------------------------------------------

    def _run(self, key: tuple[object, ...], asked: Callable[[], wire.Request], *, urgent: bool = False) -> wire.Trace:
        if key not in self._done:
            if key not in self._begun:
                self._begin(key, asked(), urgent=urgent)
            number, request = self._begun[key]
            trace = self._probe.wait(number, self._target.time_limit)
            trace = run(self._probe, replace(request, watch_from=0)) if trace.late else trace
            self._done[key] = self._until_later(key, request, trace)
            del self._begun[key]
        return self._done[key]

    def _begin(self, key: tuple[object, ...], asked: wire.Request, *, urgent: bool = False) -> None:
        if key not in self._begun and key not in self._done:
            asked = replace(asked, urgent=urgent)
            self._begun[key] = self._probe.submit(asked), asked

    def _request(self, mode: str, files: Mapping[Path, bytes] | None = None) -> wire.Request:
        """A run of the target with `files` in place of those on disk."""
        files = files or {}
        return replace(
            request(self._target, mode, files),
            lines={str(path): line_map(self._target.read(path), data) for path, data in files.items()},
            marks={str(path): _changed(self._target.read(path), data) for path, data in files.items()},
            passes=self._target.passes,
            perturbed=self._perturbed,
            threads=SHARE,
            grace=GRACE,
            failed_at=(self.baseline.backward_count, *self.baseline.counts),
        )

    def _reference(self, name: str, *, frozen: bool) -> wire.Request:
        reading = OPERATION if OPERATION in name else ""
        asked = replace(self._request("reference"), frozen=frozen, truncated="truncated" in name, reading=reading)
        asked = replace(asked, held=frozen and self._edited, sites=self._sites, marks=self._removed)
        # Steps made by hand are writes, which only a run that is watched sees: they tell passes apart and where to cut.
        by_hand = "truncated" in name or not any(self.baseline.counts)
        if not (by_hand or frozen or reading or self._sites):
            asked = replace(asked, watch_from=watch_from(self.baseline))
        if name == "full" and not frozen:
            return asked
        # Every other run ends where the first one did.
        ends = self.live(base(name) if frozen or name != base(name) else "full")
        asked = _ending_with(asked, ends)
        return replace(asked, segments=ends.segments) if "separated" in name else asked

    def _candidate(self, files: Mapping[Path, bytes], *, frozen: bool = False, still: bool = False) -> wire.Request:
        full = self.live(self.bases()[0])
        asked = replace(self._request("candidate", files), frozen=frozen, still=still, shapes=still or self._edited)
        asked = replace(_ending_with(asked, full), held=frozen and self._edited)
        limit = self._target.time_limit
        if full.outcome != "failed":  # one that died early says nothing of how long a run takes
            limit = min(limit, max(_AT_LEAST, _SLOWER * full.seconds))
        return replace(asked, time_limit=limit)


def base(name: str) -> str:
    """The literal reference behind a reading."""
    return f"full+{OPERATION}" if OPERATION in name else "full"


def request(target: Target, mode: str, files: Mapping[Path, bytes] | None = None) -> wire.Request:
    """A plain run of the target, with `files` in place of those that it has."""
    cwd = target.cwd or target.script.parent
    overlay = {str(path): data.decode("latin-1") for path, data in (target.buffers | dict(files or {})).items()}
    return wire.Request(
        0, mode, str(target.script), target.argv, str(cwd), str(target.root or target.script.parent),
        module=target.module, setup=target.setup, overlay=overlay, time_limit=target.time_limit,
        memory_limit=target.memory_limit, process_limit=target.process_limit, output_limit=target.output_limit,
        isolation=target.isolation, network=target.network,
    )  # fmt: skip


def watch_from(failed: wire.Trace) -> int:
    """How many backward calls another run of what failed may make before it is watched.

    What it is watched for comes later. Of a failure outside of backward, or where a graph was lost, nobody knows how
    far back its cause lies: such a run is watched from the start.
    """
    failure = failed.failure
    if failure is None or not failure.in_backward or failure.kind:
        return 0
    return max(0, min(failure.oldest, failed.backward_count - _WATCHED))


def line_map(old: bytes, new: bytes) -> tuple[int, ...]:
    """For each line of `new`, the line of `old` that it is, or was made from; 0 for a new one."""
    # Without indentation: a statement that an edit wraps in a block is still the same statement.
    before, after = ([line.strip() for line in data.splitlines()] for data in (old, new))
    lines = [0] * len(after)
    for tag, a, b, c, d in opcodes(before, after):
        if tag == "equal" or (tag == "replace" and b - a == d - c):
            lines[c:d] = range(a + 1, b + 1)
    # A line that stands once in each was moved: it is still the same statement, and draws the same noise.
    kept = set(lines)
    for number, line in enumerate(after):
        if line and not lines[number] and after.count(line) == before.count(line) == 1:
            origin = before.index(line) + 1
            lines[number] = 0 if origin in kept else origin
    return tuple(lines)


def _changed(old: bytes, new: bytes) -> tuple[int, ...]:
    """The lines of `new` that are not in `old`."""
    codes = opcodes(old.splitlines(), new.splitlines())
    return tuple(line + 1 for tag, _, _, c, d in codes if tag != "equal" for line in range(c, d))


def died_later(trace: wire.Trace) -> bool:
    """Whether a run was ended by another failure than the one in question, which the unedited script has, too."""
    return trace.outcome == "stopped" and trace.failure is not None


def _place(trace: wire.Trace, edited: wire.Request | None = None) -> tuple[object, ...] | None:
    """What a run died of, and where in the files as they are on disk; None where no line of the user's says so."""
    if trace.failure is None or not trace.failure.stack:
        return None
    frame = trace.failure.stack[0]
    lines = edited.lines.get(frame.file) if edited is not None else None
    line = lines[frame.line - 1] if lines is not None and frame.line <= len(lines) else frame.line
    return trace.failure.type, frame.file, line


def _ending_with(asked: wire.Request, full: wire.Trace) -> wire.Request:
    """The same run, to end where the reference ended: at its counts, or with the script.

    Where that died, a live run may go on by a step, so that it is seen to die there as well; while steps are undone it
    need not come to the same values.
    """
    more = 1 if died_later(full) and not asked.frozen else 0
    stop = tuple(count + more for count in (full.backward_count, *full.counts)) if full.outcome == "stopped" else ()
    return replace(asked, failed_at=(), stop_at=stop)


def _first_steps(trace: wire.Trace) -> tuple[wire.Step, ...]:
    """The gradients that the first steps of each optimizer used; () where there is no step."""
    found = []
    for index in range(len(trace.counts)):
        mine = [step for step in trace.steps if step.optimizer == index][:_FIRST]
        found += [wire.Step(index, step.gradients, (), "") for step in mine]
    return tuple(found)


def _key(files: Mapping[Path, bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path, data in sorted(files.items()):
        digest.update(os.fsencode(path) + b"\0" + data + b"\0")
    return digest.hexdigest()
