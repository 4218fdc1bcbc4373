"""Builds every request that the probe is sent."""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autofix.core.aligned import opcodes
from autofix.core.model import Cause, Reading, Refused, Target, Treatment
from autofix.experiments.client import SHARE
from autofix.experiments.later import died_later
from autofix.experiments.spec import Intervention, RunSpec
from autofix.probe import wire
from autofix.syntax.calls import within
from autofix.syntax.source import Source, SourceError
from autofix.syntax.sources import parsed

GRACE = 1.0
"""Seconds of computing in which a run is to make its steps beyond the failure; else it ends at the passes asked for."""
_LEAST, _TIMES = 5.0, 2.0
"""Seconds beyond the failure, and how many times those of the failing run, for which runs are compared."""
_LONGEST = 30.0
"""Seconds beyond the failure after which a run ends that still waits for something to compare."""
_LOOKED_AT = 5.0
"""Seconds from the first backward on for which a run that does not crash is looked at."""
_SHAPES = 8
"""Steps of each optimizer of which live runs tell what their graphs are made of: a part that is cut is cut in them."""
_GLANCE = 1.0
"""Seconds beyond the failure for which an edit runs where there is nothing to compare it with."""
STEPS = 2
"""Steps of an optimizer beyond the failure that are compared at least."""
_SLOW = 2.0
"""Seconds beyond the failure from which on runs that take several times as long see the least there is."""
_SMALL = 1 << 30
"""Bytes up to which a script is small enough that a reference may copy all that is saved."""
_SLOWER = 6.0
_AT_LEAST = 20.0
"""Seconds that an edited script has at least: a new process on a busy machine takes long to start."""
_FIRST = 3
"""Steps of each optimizer by which a run that differs from a reference mostly shows it."""
_FURTHER = 60
"""Steps beyond those of a reference that came to its end after which an edited script need not come to its own."""
_A_WHILE, _MANY, _SOME = 3.0, 200, 20
"""Seconds of computing, and steps beyond the failure, for which runs go further than what is compared otherwise; and
the steps where they take other branches."""
_BRIEFLY = 2
"""Passes of loops that train in runs that are to come to the next pass of the loops around them."""
_SHIFTS = {Intervention.OUTPUTS: 0.0, Intervention.SHIFTED: 1.0, Intervention.SHIFTED_FAR: -4.0}
"""By how many times its size what modules give is moved."""
_WATCHED = 40
"""Backward calls before the failing one that a run watches, where the failing graph is not older."""


def plain(target: Target, mode: str = "baseline", files: Mapping[Path, bytes] | None = None) -> wire.Request:
    """A run of the target in one of the probe's modes, with `files` in place of those that it has."""
    cwd = target.cwd or target.script.parent
    overlay = {str(path): data.decode("latin-1") for path, data in (target.buffers | dict(files or {})).items()}
    return wire.Request(
        0, mode, str(target.script), target.argv, str(cwd), str(target.project),
        module=target.module, setup=target.setup, overlay=overlay, time_limit=target.time_limit,
        memory_limit=target.memory_limit, process_limit=target.process_limit, output_limit=target.output_limit,
        isolation=target.isolation, network=target.network, watch_origins=mode == "trace",
    )  # fmt: skip


def auditing(target: Target) -> wire.Request:
    """A run that is watched for what goes wrong without a crash; it ends by itself, or some seconds after it trains."""
    return replace(plain(target, "audit"), budget=target.budget or _LOOKED_AT)


def tracing(target: Target, failed: wire.Trace, files: Mapping[Path, bytes] | None = None) -> wire.Request:
    """The run that is to tell why another, of the target with `files` in place of its own, failed."""
    failure = failed.failure
    in_backward = failure is not None and failure.in_backward
    # A backward that began had its graph: nobody need watch where one is lost.
    lost = failure is None or not in_backward or bool(failure.kind)
    return replace(
        plain(target, "trace", files), watch_calls=not in_backward, watch_origins=lost, threads=_threads(failed),
        failed_at=(failed.backward_count, *failed.counts), watch_from=watch_from(failed),
    )  # fmt: skip


def drawing(target: Target, *, in_backward: bool) -> wire.Request:
    """The run that draws the graph around a failure."""
    return replace(plain(target, "trace"), graph=True, watch_calls=not in_backward)


def drawing_past(target: Target, drawn: wire.Trace, files: Mapping[Path, bytes]) -> wire.Request:
    """The run that draws the same part of the graph with an edit that gets past the failure."""
    past = (drawn.backward_count, *drawn.counts)
    return replace(plain(target, "trace", files), graph=True, passes=1, grace=0.0, failed_at=past)


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds the runs that are compared with each other, for one failure of one target.

    `sites` are the places at which a reference does what the script does not. `removed` are the lines of each file that
    the one edit to be judged takes away, where it is known; None where there are many edits.
    """

    target: Target
    baseline: wire.Trace
    sites: tuple[wire.Site, ...] = ()
    removed: Mapping[str, tuple[int, ...]] | None = None
    converts: bool = False
    """Whether a conversion was refused: an operation that keeps its graph is a reading of it."""
    once: bool = False
    """What the failing backward took of an earlier pass was made once: no place that made it made more of it since."""
    perturbed: bool = True
    """Parameters start a little beside where the script puts them: a gradient that a zero-initialised layer hides
    would be equal whatever an edit does to it."""
    written: Mapping[Path, bytes] = field(default_factory=dict)
    """The files in which a reference gets past the failure, where it is no call of torch's that it does otherwise."""
    numbers: bool = False
    """Whether that is a loss which is a number in some passes."""
    flags: bool = False
    """Whether a flag that is set on a module is that of its parameters."""
    anywhere: bool = False
    """Whether what is written to a leaf, and something else learns by, is for its pass, also outside of modules."""
    patient: bool = False
    """Whether runs go on for as long as one does that still waits for something to compare."""

    def first(self, spec: RunSpec) -> wire.Request:
        """The live reference of a letter, which ends some passes after the failure."""
        assert spec.reading is not None  # noqa: S101  a reference has one
        frozen, operation = spec.treatment is not Treatment.LIVE, spec.reading.refused is Refused.OPERATION
        asked = replace(
            self._shared("reference", spec), marks=dict(self.removed or {}), sites=self.sites,
            truncated=spec.reading.truncated, reading=spec.reading.refused.value if operation else "",
            follow=(operation and self.converts) or any(site.action == "follow" for site in self.sites),
            anywhere=operation and self.anywhere, flags=self.flags,
            twice=self.baseline.failure is not None and self.baseline.failure.kind == Cause.DIFFERENTIATED_ONCE,
        )  # fmt: skip
        # Steps made by hand are writes, which only a run that is watched sees: they tell passes apart and where to cut.
        by_hand = spec.reading.truncated or not any(self.baseline.counts)
        asked = replace(asked, at_once=self._has_optimizers() and self.baseline.peak_bytes < _SMALL)
        if by_hand or frozen or operation or self.sites:
            return asked
        return replace(asked, watch_from=watch_from(self.baseline))

    def reference(self, spec: RunSpec, first: wire.Trace, treated: wire.Trace) -> wire.Request:
        """Any other reference; it ends where the first one did.

        `treated` is the letter under the same treatment: with other draws a pass may make another number of nodes, so
        that what a reading takes for a constant has another age.
        """
        asked, reading = _ending_with(self.first(spec), first), spec.reading or Reading()
        if spec.treatment is not Treatment.LIVE or spec.intervention is Intervention.REPEATED:
            asked = self._shortly(asked, first, spec)
        shared = treated.older if self.once else treated.shared
        constants = shared if reading.constant else ()
        if reading.constant and first.begun:  # what only these passes took is not known to be shared
            before = _before_the_last(first, first.begun)
            asked = replace(asked, stop_at=tuple(map(min, asked.stop_at, before)))
        if reading.averages:  # that of the last pass is handed to none that would show it
            constants, asked = treated.averages, replace(asked, stop_at=_before_the_last(first))
        there = [wire.Site("keep", frame) for frame in reading.uncut]
        there += [wire.Site("detach", frame) for frame in reading.measured]
        cleared = (site.frame for site in asked.sites if site.action == "zero" and reading.uncleared)
        sites = (*asked.sites, *(wire.Site("uncleared", frame) for frame in cleared), *there)
        asked = replace(
            asked, older=treated.older if asked.compared else (), handed=treated.handed if reading.by_call else (),
            constants=constants, apart=reading.apart, addends=reading.addends, sent_once=reading.sent_once,
            for_a_pass=reading.for_a_pass, through=reading.through, off=reading.off, targets=reading.targets,
            sites=sites, watch_from=0 if there else asked.watch_from,
        )  # fmt: skip
        if spec.intervention is Intervention.STIRRED:
            asked = replace(asked, starts=tuple(int(fact.subject) for fact in first.seen("starts-idle")))
        if spec.intervention in _SHIFTS:
            asked = replace(asked, outputs=True, shifted=_SHIFTS[spec.intervention], shifts=spec.owner)
        if spec.intervention is Intervention.NUDGED and self._converts():
            asked = replace(asked, expected=(first_steps(first),))  # where gradients differ, it has shown enough
        asked = self._further(asked, first, spec)
        lines = line_maps(self.target, dict(spec.files))
        return replace(asked, segments=_segments(first, asked) if reading.separated or asked.off else (), lines=lines)

    def edited(self, spec: RunSpec, first: wire.Trace, expected: tuple[tuple[wire.Step, ...], ...]) -> wire.Request:
        """A run of an edited script, which ends where the reference did, or when it has left all that is expected."""
        asked = self._shared("candidate", spec)
        if self.too_few(first):  # whether it gets past the failure is all that can be seen
            asked = replace(asked, budget=_GLANCE, longest=_GLANCE)
        else:
            asked = _ending_with(asked, first)
            asked = asked if spec.treatment is Treatment.LIVE else self._shortly(asked, first, spec)
            asked = replace(asked, stop_at=tuple(spec.times * count for count in asked.stop_at))
        asked = self._further(asked, first, spec)
        return replace(
            asked,
            lines=line_maps(self.target, dict(spec.files)),
            marks={str(path): changed_lines(self.target.read(path), data) for path, data in spec.files},
            expected=expected, time_limit=self._limit(first), growing=STEPS if first.hurried else asked.growing,
        )  # fmt: skip

    def _further(self, asked: wire.Request, first: wire.Trace, spec: RunSpec) -> wire.Request:
        """A run that comes to the next pass of the loops around what failed, or to the end: those inside end soon."""
        if spec.intervention.goes_on:
            return asked if spec.beside else self._on(asked, first, _SOME if spec.turned else _MANY)
        if not (spec.intervention is Intervention.SHORTENED or spec.intervention.to_the_end):
            return asked
        asked = replace(asked, setup=replace(asked.setup, shorten=_BRIEFLY), time_limit=self._limit(first))
        if spec.intervention.to_the_end:
            return replace(asked, failed_at=(), stop_at=(), most=(), idle=(), rounds=())
        before = (self.baseline.backward_count, *self.baseline.counts, *[0] * len(first.counts))
        far = (had + 2 * _BRIEFLY for had in before)
        stop = tuple(most and max(most, needed) for most, needed in zip(asked.stop_at, far, strict=False))
        return replace(asked, stop_at=stop)

    def _on(self, asked: wire.Request, first: wire.Trace, passes: int) -> wire.Request:
        """A reference that goes on behind the first one, to the end of the script or for a while."""
        budget = self.target.budget or _A_WHILE
        failed_at = (self.baseline.backward_count, *self.baseline.counts)
        return replace(
            asked, failed_at=failed_at, stop_at=(), most=(), idle=(), rounds=(), budget=budget, longest=budget,
            passes=passes, time_limit=self._limit(first),
        )  # fmt: skip

    def _limit(self, first: wire.Trace) -> float:
        """Seconds within which a run ends that is to come as far as the first one."""
        if first.outcome == "failed":  # one that died early says nothing of how long a run takes
            return self.target.time_limit
        return min(self.target.time_limit, max(_AT_LEAST, _SLOWER * first.seconds))

    def compiled(self, spec: RunSpec) -> wire.Request:
        """A run as the script itself would make it, where all others ran eagerly what it has compiled."""
        setup = replace(self.target.setup, compiled=True, scripted=True)
        return plain(replace(self.target, setup=setup), files=dict(spec.files))

    def _shared(self, mode: str, spec: RunSpec) -> wire.Request:
        frozen, still = spec.treatment is not Treatment.LIVE, spec.treatment is Treatment.STILL
        unmoved = spec.intervention is Intervention.UNMOVED
        shows = spec.intervention.to_the_end and not frozen  # what the script itself prints in the end
        doubled = sum(self.baseline.counts) if spec.intervention is Intervention.DOUBLED else -1
        files = {**(self.written if spec.reading is not None else {}), **dict(spec.files)}
        on = spec.intervention.goes_on
        moved = self.perturbed and not (unmoved or shows or on)  # far on, a copy of a start shows whether it was moved
        return replace(
            plain(self.target, mode, files), passes=self.target.passes, threads=_threads(self.baseline),
            grace=GRACE, perturbed=moved, early=len(self.baseline.counts),
            failed_at=(self.baseline.backward_count, *self.baseline.counts),
            concerned=self._concerned(), budget=self.budget, longest=_LONGEST, lead=self._lead(),
            frozen=frozen, still=still, shapes=-1 if frozen or self.removed is not None else _SHAPES,
            held=unmoved or (frozen and self.removed is not None),
            compared=spec.intervention is Intervention.COMPARED, farther=spec.intervention is Intervention.FARTHER,
            stirred=spec.intervention is Intervention.STIRRED, further=on, turned=spec.turned,
            branches=bool(spec.turned) or (on and spec.reading is not None),
            unshared=(on and spec.reading is not None)
            or spec.intervention in (Intervention.UNSHARED, Intervention.KEEPING),
            late=spec.since if spec.intervention is Intervention.LATE else -1, about=spec.about,
            rests=spec.intervention is Intervention.RESTING,
            nudged=spec.intervention is Intervention.NUDGED, doubled=doubled,
            bounding=spec.intervention is Intervention.BOUNDING,
            sources=spec.intervention is Intervention.SOURCED, once=self.once,
            ordered=unmoved or shows or spec.intervention is Intervention.ORDERED, spares=self.spares,
            # Where the script binds an updated leaf anew, an edit may write into it instead: neither is undone then.
            by_hand=not any(site.action == "update" for site in self.sites),
        )  # fmt: skip

    @property
    def spares(self) -> bool:
        """Whether the loss of some passes is a number, which asks nothing: their steps may be left out."""
        return self.numbers or any(site.action == "constant" for site in self.sites)

    # How far ----------------------------------------------------------------------------------------------------------

    @property
    def budget(self) -> float:
        """Seconds for which runs may go on beyond the failure, where the script does not end by itself."""
        usual = max(_LEAST, _TIMES * self.baseline.undisturbed)
        return self.target.budget or (max(usual, _LONGEST) if self.patient else usual)

    def too_few(self, first: wire.Trace) -> str:
        """Why the first reference saw too little in its time for a comparison; '' if it saw enough, or all there is."""
        if not first.hurried:
            return ""
        stepping = {name for names, count in zip(first.names, first.counts, strict=False) if count for name in names}
        replaced = {i for i, count in enumerate(first.counts) if not count and stepping.issuperset(first.names[i])}
        concerned = {i for i in self._concerned() if i < len(first.counts)} or set(range(len(first.counts)))
        before = (*self.baseline.counts, *[0] * len(first.counts))
        made = {index: first.counts[index] - before[index] for index in sorted(concerned - replaced)}
        fewest = min(made.values(), default=first.backward_count - self.baseline.backward_count)
        if fewest >= STEPS:
            return ""
        who = next((first.owner(i) for i, count in made.items() if count == fewest), "")
        what = f"step of the optimizer of {who}" if made else "backward call"
        return lacking(f"a {'second ' * fewest}{what}", max(_LONGEST, self.budget))

    def _concerned(self) -> tuple[int, ...]:
        """The optimizers that the failure concerns; of an edit that may be anything, all: ()."""
        failure = self.baseline.failure
        return () if self.removed is not None or failure is None else failure.concerned

    def _lead(self) -> float:
        """Of a failure outside of backward no count tells when it is past: a run comes to it after that time."""
        failure = self.baseline.failure
        return 0.0 if failure is not None and failure.in_backward else self.baseline.undisturbed

    def _has_optimizers(self) -> bool:
        """Whether steps are made by optimizers, as far as the failing run can tell."""
        return any(self.baseline.counts) or (bool(self.baseline.counts) and not self.baseline.backward_count)

    def _converts(self) -> bool:
        """Whether the failure lies outside of backward: then no loss is asked whether it depends on a derivative."""
        return self.baseline.failure is not None and not self.baseline.failure.in_backward

    def _shortly(self, asked: wire.Request, first: wire.Trace, spec: RunSpec) -> wire.Request:
        """A run that takes several times as long as the reference did: of a slow script it sees the least there is."""
        whole = spec.intervention is Intervention.WHOLE or spec.intervention.goes_on
        if whole or first.outcome != "stopped" or first.past < _SLOW or not asked.stop_at:
            return asked
        before = (*self.baseline.counts, *[0] * len(first.counts))
        brief = spec.intervention is Intervention.BRIEF
        least = [min(count, had + (1 if brief else STEPS)) for count, had in zip(first.counts, before, strict=False)]
        # All that the reference made until then: of a pass whose steps an edit exchanges, none is to be left out.
        ends = (_rounds(first) if brief else ()) or _courses(first)
        made = next((made for made in ends if all(map(operator.ge, made, least))), least)
        return replace(asked, stop_at=(asked.stop_at[0], *made))


def lacking(what: str, seconds: float) -> str:
    """That runs did not come to something in so many seconds, and what lets them."""
    return (
        f"could not run {what} within {seconds:.0f} s of computing beyond the failure; "
        f"allow more with --budget {math.ceil(4 * seconds)}"
    )


def _courses(first: wire.Trace) -> Iterator[tuple[int, ...]]:
    """How many steps each optimizer has made, after each step of a run."""
    counts = [0] * len(first.counts)
    for step in first.whole_steps:
        counts[step.optimizer] += 1
        yield tuple(counts)


def _rounds(first: wire.Trace) -> tuple[tuple[int, ...], ...]:
    """The counts at which each round of a reference ends; () where each optimizer makes one step in each.

    Of those that step more often than others, the last steps of a round may be exchanged by an edit: it is to end
    behind the same steps, not within a pass.
    """
    ends: list[tuple[int, ...]] = []
    for made in _courses(first):
        if min(count for count, all_in_all in zip(made, first.counts, strict=True) if all_in_all) > len(ends):
            ends.append(made)
    uneven = any(count not in (0, number) for number, made in enumerate(ends, 1) for count in made)
    return tuple(ends) if uneven else ()


def _segments(first: wire.Trace, asked: wire.Request) -> tuple[tuple[int, ...], ...]:
    """The optimizers that each backward is to train; in a region without gradients, all that ever step in one."""
    within = tuple(int(fact.subject) for fact in first.seen("step-while-off")) if asked.off else ()
    return tuple((*one, *within) for one in first.segments)


def _before_the_last(first: wire.Trace, passes: int = 1) -> tuple[int, ...]:
    """The counts at which a run stops that leaves out the last passes."""
    return tuple(max(1, count - passes) for count in (first.backward_count, *first.counts))


def first_steps(trace: wire.Trace) -> tuple[wire.Step, ...]:
    """The gradients that the first steps of each optimizer used; () where there is no step."""
    found = []
    for index in range(len(trace.counts)):
        found += [wire.Step(index, step.gradients, (), "") for step in trace.of(index)[:_FIRST]]
    return tuple(found)


def _threads(first: wire.Trace) -> int:
    """The threads of a run that follows this one; all that go on from one beginning have one."""
    return 1 if first.stem or first.resumed else SHARE


def watch_from(failed: wire.Trace) -> int:
    """How many backward calls another run of what failed may make before it is watched.

    What it is watched for comes later. Of a failure outside of backward, or where a graph was lost, nobody knows how
    far back its cause lies: such a run is watched from the start.
    """
    failure = failed.failure
    if failure is None or not failure.in_backward or failure.kind:
        return 0
    return max(0, min(failure.oldest, failed.backward_count - _WATCHED))


def line_maps(
    target: Target, files: Mapping[Path, bytes], before: Mapping[Path, bytes] | None = None
) -> dict[str, tuple[int, ...]]:  # fmt: skip
    """The `line_map` of each file of an edit, against the files as they are, or as an edit before left them."""
    old = {path: (before or {}).get(path) or target.read(path) for path in files}
    return {str(path): line_map(path, old[path], data) for path, data in files.items()}


@functools.lru_cache(maxsize=16)
def line_map(path: Path, old: bytes, new: bytes) -> tuple[int, ...]:
    """For each line of `new`, the line of `old` that it is, or was made from; 0 for a new one."""
    # Without indentation: a statement that an edit wraps in a block is still the same statement.
    before, after = _stripped(old), _stripped(new)
    lines = [0] * len(after)
    codes = opcodes(before, after)
    fresh, gone = list[int](), set[int]()
    for tag, a, b, c, d in codes:
        if tag == "equal" or (tag == "replace" and b - a == d - c):
            lines[c:d] = range(a + 1, b + 1)
        else:
            fresh += range(c, d)
            gone.update(range(a, b))
    # A line that stands once in each was moved: it is still the same statement, and draws the same noise.
    for number in fresh:
        line = after[number]
        if line and after.count(line) == before.count(line) == 1 and (origin := before.index(line)) in gone:
            lines[number] = origin + 1
    # Statements that an edit splits or joins: a call that stands once in each of both is still the same call.
    splits = [
        (range(a + 1, b + 1), range(c + 1, d + 1)) for tag, a, b, c, d in codes if tag == "replace" and b - a != d - c
    ]
    calls = _differing_calls(path, old, new) if splits else ()
    for places in splits:
        known, now = (_by_text(there, on) for there, on in zip(calls, places, strict=True))
        for text, found in now.items():
            if len(found) == len(known.get(text, ())) == 1 and not lines[found[0] - 1]:
                lines[found[0] - 1] = known[text][0]
    return tuple(lines)


@functools.lru_cache(maxsize=4)
def _stripped(data: bytes) -> list[bytes]:
    return [*map(bytes.strip, data.splitlines())]


def _by_text(calls: list[ast.Call], lines: range) -> dict[str, list[int]]:
    """The lines of the calls that begin on some lines, by how they are written."""
    found: dict[str, list[int]] = {}
    for call in calls:
        if call.lineno in lines:
            found.setdefault(ast.unparse(call), []).append(call.lineno)
    return found


def _differing_calls(path: Path, old: bytes, new: bytes) -> tuple[list[ast.Call], list[ast.Call]]:
    """The calls in the statements that two versions of a file have otherwise; none where one is no Python."""
    try:
        before = parsed(path, old)
        one, other = before.apart(Source(path, new, before))
    except SourceError:
        return [], []
    return [*within(*one)], [*within(*other)]


@functools.lru_cache(maxsize=16)
def changed_lines(old: bytes, new: bytes) -> tuple[int, ...]:
    """The lines of `new` that are not in `old`."""
    codes = opcodes(old.splitlines(), new.splitlines())
    return tuple(line + 1 for tag, _, _, c, d in codes if tag != "equal" for line in range(c, d))


def _ending_with(asked: wire.Request, first: wire.Trace) -> wire.Request:
    """The same run, to end where the reference ended: at its counts, or with the script.

    Where that died, a live run may go on by a step, so that it is seen to die there as well; while steps are undone it
    need not come to the same values. Where it failed, there is no end to come to: the run chooses its own.
    """
    if not first.ended_well:
        return asked
    more = 1 if died_later(first) and not asked.frozen else 0
    stop = tuple(n + more for n in (first.backward_count, *first.counts)) if first.outcome == "stopped" else ()
    most = tuple(n + _FURTHER for n in first.counts) if first.outcome == "finished" else ()
    idle = tuple(index for index, n in enumerate(first.counts) if not n)
    rounds = _rounds(first) if asked.frozen else ()
    return replace(asked, failed_at=(), stop_at=stop, most=most, idle=idle, rounds=rounds, budget=0.0)
