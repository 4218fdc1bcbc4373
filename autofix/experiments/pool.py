"""The pool of runs of one failing target: each is made once, begun early, and handed out when it is asked for."""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import time
import weakref
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from autofix.core.model import REWRITTEN, Cause, Reading, Refused, Treatment
from autofix.experiments import later
from autofix.experiments.client import JOBS
from autofix.experiments.compare import comparable, without_idle_steps
from autofix.experiments.readings import learning, letters, places
from autofix.experiments.readings.letters import Letters
from autofix.experiments.requests import Builder, changed_lines, first_steps, line_maps
from autofix.experiments.spec import UNEDITED, Intervention, RunSpec
from autofix.experiments.unwritten import (
    at_once,
    begun_anew,
    copied,
    emptied_together,
    flags_spelled,
    kept_inputs,
    leaf_copied,
    leaf_kept,
    numbers_as_leaves,
    old_values,
    sampled,
    with_registered,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from autofix.core.model import Diagnosis, Target
    from autofix.experiments.client import Probe
    from autofix.probe import wire
    from autofix.syntax.edits import Begun, Emptied

Judged = TypeVar("Judged")
_TOO_LATE = "the script did not come to its failure again within the time limit; raise --time-limit, or use --shorten"
_NOT_AGAIN = "the script as it stands did not fail again in the same way when it was run like an edited one"
_SLOW = 2.0
_LEAST, _TIMES = 30.0, 6.0
"""Seconds of each core, and how many times those of the failing run, in which somebody waits for a result."""
_IN_VAIN = 3
"""How many times as long somebody waits where no edit runs as yet."""
_NEED_SITES = (Cause.NONLEAF_GRADIENT, Cause.UNUSED_INPUT, Cause.NO_GRAPH, Cause.GRADIENT_NONE)
_FAILURES = 3
"""Places at which a script would fail one after another, for want of a graph, that references go beyond."""
_FIRST_RUN = RunSpec.reference(Reading())


class Uses(Protocol):
    """Somebody who keeps traces."""

    def forget(self) -> None:
        """Keep none any more: they were made anew."""


class _NotYet(Exception):  # noqa: N818  never seen outside
    """A run that is asked for ahead of time has begun and has not ended."""


@dataclass(slots=True)
class _Runs:
    """The runs that start from one kind of parameters: those under way, and the traces of those that ended."""

    builder: Builder
    begun: dict[RunSpec, tuple[int, wire.Request]] = field(default_factory=dict)
    done: dict[RunSpec, wire.Trace] = field(default_factory=dict)
    early: set[RunSpec] = field(default_factory=set)
    """Those that time ended before they came to where they were to end."""
    letters: Letters | None = None
    whole: bool = False
    """Whether a reference had to be made again, watched from its first line on: then so are those behind it."""


class Pool:
    """Makes the runs that are asked for, in any order; a context manager, which gives up what is still under way.

    Live runs start from perturbed parameters, unless with them the script goes another way. Then all runs that were
    made are forgotten, before any was handed out, and new ones start where the script puts its parameters. They are
    forgotten, too, where they ended before they showed enough, and may go on for longer.
    """

    def __init__(
        self, probe: Probe, target: Target, baseline: wire.Trace, edited: Mapping[Path, bytes] | None = None
    ) -> None:
        """`edited`: the one edit to be judged, where it is known: what it removes must have run in the reference.

        The first reference begins here, while the failure is still being traced, where nothing more need be known.
        """
        self.target, self.baseline = target, baseline
        self._probe = probe
        removed = {str(path): changed_lines(data, target.read(path)) for path, data in (edited or {}).items()}
        self._runs = _Runs(Builder(target, baseline, removed=removed if edited is not None else None))
        self._next: tuple[Callable[[], object], ...] = ()
        self._peeking = self._begins_none = False
        self._unproven: str | None = None
        self.broken = ""
        """What an instrument raised in one of the runs: what it was to see may speak against any edit."""
        self._users = weakref.WeakSet[Uses]()
        self._computed, self._began = baseline.computed, time.thread_time()
        self.written: Mapping[str, Mapping[Path, bytes]] = {name: {} for name in REWRITTEN}
        """For each change of a reading that needs it, the files in which the program makes it; empty where none can."""
        self.emptied: Emptied | None = None
        """What each pass could empty with a list that is filled in step with it."""
        self.leaf_written: wire.Stack = ()
        """Where a leaf was to be written, if torch refused that."""
        self.begun: Begun | None = None
        """Where each pass could begin with a start that only the first one reads."""
        if baseline.failure is not None and baseline.failure.kind not in _NEED_SITES:
            self._begin(_FIRST_RUN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._forget(self._runs.builder)

    def about(self, diagnosis: Diagnosis) -> None:
        """Learn what failed: at some places a reference has to do what the script does not.

        What no edit can be judged without then goes on while edits are looked for.
        """
        self._learn(diagnosis)
        with self._looking_ahead(), contextlib.suppress(_NotYet):
            self._begin(UNEDITED)

    def _learn(self, diagnosis: Diagnosis) -> None:
        about, failed = (self.target, diagnosis.trace), diagnosis.failure.stack
        self.leaf_written = failed if diagnosis.cause is Cause.LEAF_MODIFIED else ()
        self.emptied, emptied = emptied_together(*about, failed)
        self.begun, begun = begun_anew(*about, failed)
        self.written = {
            "old_values": old_values(*about),
            "copied": copied(*about) or self._leaf_apart(),
            "at_once": at_once(*about),
            "registered": with_registered(*about),
            "emptied": emptied,
            "input_kept": kept_inputs(*about, failed),
            "begun": begun,
            "sampled": sampled(self.target, diagnosis),
        }
        numbers = numbers_as_leaves(self.target, diagnosis)
        self._runs.builder = replace(
            self._runs.builder, once=not diagnosis.trace.remade, written=numbers, numbers=bool(numbers)
        )
        if self._is_said_by_flags(diagnosis):
            return
        sites = self._chosen(places.sites(diagnosis))
        if (stand := places.standing(diagnosis)) and any(learning.orphans(self._tried(sites))):
            sites = stand
        elif (uncut := places.uncut(diagnosis)) and learning.idles(self._tried(sites)):
            sites = (*sites, *self._chosen(uncut))
        if sites:
            self._forget(replace(self._runs.builder, sites=sites))
        elif diagnosis.cause is Cause.CONVERSION:
            self._runs.builder = replace(self._runs.builder, converts=True)
        self._go_on(diagnosis)

    def _leaf_apart(self) -> Mapping[Path, bytes]:
        """The files in which one of two names of a leaf that is written gets a copy."""
        about = self.target, self.leaf_written
        return leaf_kept(*about) or leaf_copied(*about)

    def _go_on(self, diagnosis: Diagnosis) -> None:
        """Where a reference meets a graph that is lost behind the failure, have it go on there, too."""
        for _ in range(_FAILURES):
            met = self._wait(_FIRST_RUN).failure
            if met is None or met.kind != Cause.NO_GRAPH or self.same_failure(self._wait(_FIRST_RUN)):
                return
            request = replace(_whole(self._runs.builder.first(_FIRST_RUN)), watch_origins=True)
            seen = self._made(self._probe.submit(request))
            known = self._runs.builder.sites
            found = places.sites(replace(diagnosis, cause=Cause.NO_GRAPH, failure=met, trace=seen))
            sites = self._chosen(tuple(tuple(dict.fromkeys((*known, *more))) for more in found))
            if not set(sites) - set(known):
                return
            self._forget(replace(self._runs.builder, sites=sites))

    def _chosen(self, choices: tuple[tuple[wire.Site, ...], ...]) -> tuple[wire.Site, ...]:
        if len(choices) < 2:  # noqa: PLR2004  nothing to choose
            return choices[0] if choices else ()
        # Of derivatives, the runs tell which only weigh what is trained.
        slopes = all(site.action == "create" for site in choices[-1])
        requests = [
            replace(replace(self._runs.builder, sites=sites).first(_FIRST_RUN), sources=slopes) for sites in choices
        ]
        numbers = [self._probe.submit(request) for request in requests]
        return places.chosen(choices, [*map(self._made, numbers)])

    def _is_said_by_flags(self, diagnosis: Diagnosis) -> bool:
        """Whether flags that torch does not look at say what is to learn: of modules, or of a name much like theirs.

        So they do where the script then runs, and all that is owned learns but for what has its own flag off.
        """
        files = flags_spelled(self.target, diagnosis)
        if not files and not (diagnosis.cause is Cause.NO_GRAPH and diagnosis.trace.seen("module-flag-on")):
            return False
        builder = replace(self._runs.builder, written=files, flags=True)
        run = self._made(self._probe.submit(builder.first(_FIRST_RUN)))
        owns = comparable(run) or run.seen("module-flag-is-read")  # then it is an attribute of the program's own
        if owns or not learning.all_learn(run, self.baseline.counts):
            return False
        self._forget(builder)
        return True

    def _tried(self, sites: tuple[wire.Site, ...]) -> wire.Trace:
        """The run of a reference with these sites."""
        return self._made(self._probe.submit(replace(self._runs.builder, sites=sites).first(_FIRST_RUN)))

    # What is asked --------------------------------------------------------------------------------------------------

    def get(self, spec: RunSpec) -> wire.Trace:
        """The trace of a run, waited for where it is still under way."""
        self._begin(spec, urgent=not self._peeking)
        self._settle()
        return self._wait(spec)

    def expect(self, *specs: RunSpec, urgent: bool = True) -> None:
        """Say that these will be asked for soon, so that they go on side by side; else where nothing else waits."""
        for spec in specs:
            self._begin(spec, urgent=urgent)

    def look_ahead(self, judgements: Iterable[Callable[[], object]]) -> None:
        """What will be called next: while a run is waited for, each is called as far as the runs that ended carry it.

        What it then asks for begins, and is there when it is called in earnest.
        """
        self._next = tuple(judgements)

    def together(self, judgements: Sequence[Callable[[], Judged]]) -> list[Judged]:
        """What each of these comes to; the runs that they ask for go on side by side, and not one after the other."""
        found: dict[int, Judged] = {}
        with self._looking_ahead() as first:
            for number, judge in enumerate(judgements if first else ()):
                with contextlib.suppress(_NotYet):
                    found[number] = judge()
        left, later = [number for number in range(len(judgements)) if number not in found], self._next
        try:
            for place, number in enumerate(left, 1):
                self._next = (*(judgements[other] for other in left[place:]), *later)
                found[number] = judgements[number]()
        finally:
            self._next = later
        return [found[number] for number in range(len(judgements))]

    def at_hand(self, judge: Callable[[], Judged]) -> Judged | None:
        """What something comes to by the runs that have ended; None where it takes another, which is not begun."""
        before, self._begins_none = self._begins_none, True
        try:
            with self._looking_ahead(), contextlib.suppress(_NotYet):
                return judge()
        finally:
            self._begins_none = before
        return None

    def drop(self, files: Mapping[Path, bytes]) -> None:
        """Give up the runs of an edit that is not wanted any more."""
        key = RunSpec.edited(files).files
        for spec in [spec for spec in self._runs.begun if spec.files == key]:
            self._probe.drop(self._runs.begun.pop(spec)[0])

    @property
    def letters(self) -> Letters:
        """The letter of the code: one reading for each meaning of what torch refuses that the program allows."""
        self._settle()
        return self._letters()

    def readings(self, letter: Reading | None = None) -> Iterator[Reading]:
        """The readings worth comparing with behind a letter, itself first; without one, behind each."""
        self._settle()
        return self._readings(letter)

    def made(self, spec: RunSpec) -> wire.Trace | None:
        """The trace of a run that has ended, without making it."""
        return self._runs.done.get(spec)

    def ended_early(self, files: Mapping[Path, bytes], readings: Iterable[Reading]) -> bool:
        """Whether time ended a run of an edit, or of these readings, before it had shown what it was made for.

        How long it takes to compile, or to come to the end of the script, says nothing.
        """
        mine, known = RunSpec.edited(files).files, set(readings)
        ways = ((one, one.intervention) for one in self._runs.early)
        early = (one for one, how in ways if not (how is Intervention.COMPILED or how.to_the_end or how.goes_on))
        return any(spec.reading in known if spec.reading is not None else spec.files == mine for spec in early)

    @property
    def unproven(self) -> str:
        """'' if the unedited script fails as it did, so that a pass means something; else why no verdict is given."""
        self._settle()
        return self._unproven or ""

    @property
    def sites(self) -> tuple[wire.Site, ...]:
        """The places at which a reference does what the script does not."""
        return self._runs.builder.sites

    @property
    def spares(self) -> bool:
        """Whether the loss of some passes is a number, so that their steps are left out."""
        return self._runs.builder.spares

    @property
    def too_few(self) -> str:
        """Why the letter was seen too briefly for a comparison; '' where it was not."""
        return self._runs.builder.too_few(self.get(RunSpec.reference(self.letters.first)))

    def go_further(self) -> bool:
        """Make all runs anew, to go on for longer; False where they did, or where somebody said for how long they may.

        What was handed out is forgotten by all who read from this pool.
        """
        if self._runs.builder.patient or self.target.budget:
            return False
        if self._peeking:
            raise _NotYet
        unproven, failed = self._unproven, self._wait(UNEDITED)
        self._forget(replace(self._runs.builder, patient=True))
        self._unproven, self._runs.done[UNEDITED] = unproven, failed  # it ends at its failure
        for user in self._users:
            user.forget()
        return True

    def read_by(self, user: Uses) -> None:
        """Know somebody who keeps what is handed out."""
        self._users.add(user)

    @property
    def quick(self) -> bool:
        """Whether one more run costs little: then alternatives to a safe fix are worth theirs."""
        return self.get(RunSpec.reference(self.letters.first)).undisturbed < _SLOW

    @property
    def computed(self) -> float:
        """Seconds for which the runs computed that were waited for, and this process: to find edits takes time, too."""
        return self._computed + time.thread_time() - self._began

    def most(self, *, in_vain: bool) -> float:
        """Seconds of computing after which nothing is worth its time any more beside an edit which runs.

        `in_vain`: none does.
        """
        return self._most * (_IN_VAIN if in_vain else 1)

    @property
    def larger_budget(self) -> int:
        """The --budget that allows twice as many."""
        return math.ceil(2 * self._most / (JOBS * _TIMES))

    @property
    def _most(self) -> float:
        return JOBS * max(_LEAST + _TIMES * self.baseline.computed, _TIMES * self.target.budget)

    def same_failure(self, trace: wire.Trace, files: Mapping[Path, bytes] | None = None) -> bool:
        """Whether a run, of an edit where `files` are given, failed where, and as, the unedited script failed."""
        return later.again(trace, self.baseline, line_maps(self.target, files or {}))

    # Starts ---------------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Find out from which parameters runs can start; nothing is handed out before."""
        if self._unproven is not None:
            return
        same = self._fails_again()
        if self._runs.builder.perturbed and (not same or comparable(self._wait(self._first_letter()))):
            self._forget(replace(self._runs.builder, perturbed=False))
            same = self._fails_again()
        late = self._wait(UNEDITED).outcome == "timed_out"
        self._unproven = "" if same else _TOO_LATE if late else _NOT_AGAIN

    def _fails_again(self) -> bool:
        return self.same_failure(self._wait(UNEDITED))

    def _forget(self, builder: Builder) -> None:
        for number, _ in self._runs.begun.values():
            self._probe.drop(number)
        self._runs, self._unproven = _Runs(builder), None

    def _letters(self) -> Letters:
        if self._runs.letters is None and self._runs.builder.too_few(self._wait(_FIRST_RUN)):
            self._runs.letters = Letters((Reading(),))  # nothing can be compared: which is meant decides nothing
        if self._runs.letters is None:
            operation = RunSpec.reference(Reading(Refused.OPERATION))
            nudged = RunSpec.reference(Reading(Refused.UPDATE), intervention=Intervention.NUDGED)
            self._runs.letters = letters.letters(
                self._wait(_FIRST_RUN), lambda: self._wait(operation), lambda: self._wait(nudged), self._stirred,
                sites=bool(self._runs.builder.sites),
            )  # fmt: skip
            if self._writes_anywhere():
                return self._letters()
            if len(self._runs.letters.readings) > 1 and self.written["sampled"]:
                sample = self._wait(RunSpec.reference(Reading(sampled=True)))
                runs = sample, self._wait(_FIRST_RUN), self._wait(operation)
                if letters.teaches(*runs, lambda: self._wait(nudged)):
                    self._runs.letters = Letters((Reading(),))
        return self._runs.letters

    def _writes_anywhere(self) -> bool:
        """Whether all runs are made anew, because a write that neither reading fits may be for a pass of no module."""
        runs, update = self._runs, self._wait(_FIRST_RUN)
        if runs.builder.anywhere or not (runs.letters and runs.letters.void and update.seen("written-of")):
            return False
        if self._peeking:
            raise _NotYet
        self._forget(replace(runs.builder, anywhere=True))
        return True

    def _stirred(self, refused: Refused) -> wire.Trace | None:
        """The reference in which what has no gradient is moved; None where it begins where the script puts it."""
        spec = RunSpec.reference(Reading(refused), intervention=Intervention.STIRRED)
        return self._wait(spec) if self._runs.builder.perturbed else None

    def _readings(self, letter: Reading | None = None) -> Iterator[Reading]:
        for one in self._letters().readings if letter is None else (letter,):
            yield from letters.behind(one, self._wait(RunSpec.reference(one)))

    def _first_letter(self) -> RunSpec:
        return RunSpec.reference(self._letters().first)

    # Runs -----------------------------------------------------------------------------------------------------------

    def _begin(self, spec: RunSpec, *, urgent: bool = False) -> None:
        while spec not in self._runs.begun and spec not in self._runs.done:
            if self._begins_none:
                raise _NotYet
            runs, request = self._runs, self._request(spec)
            # To build it may have taken a run, in whose time it was begun ahead, or all runs were made anew.
            if runs is self._runs and spec not in runs.begun:
                request = replace(request, urgent=urgent or spec.treatment is not Treatment.LIVE)
                request = _whole(request) if runs.whole and spec.reading is not None else request
                runs.begun[spec] = self._probe.submit(request), request

    def _request(self, spec: RunSpec) -> wire.Request:
        builder = self._runs.builder
        if spec == _FIRST_RUN:
            return builder.first(spec)
        if spec.intervention is Intervention.COMPILED:
            return builder.compiled(spec)
        if spec.reading is None:
            lead = RunSpec.reference(spec.beside, spec.treatment, Intervention.FURTHER) if spec.beside else None
            lead = replace(lead, turned=spec.turned) if lead else self._first_letter()
            return builder.edited(spec, self._wait(lead), self._expected(spec))
        reading = spec.reading
        letter = RunSpec.reference(reading.letter)
        if spec == letter and later.died_early(self._wait(_FIRST_RUN)):
            return builder.first(spec)
        if reading.rewritten:
            spec = replace(spec, files=tuple(sorted(self.written[reading.rewritten].items())))
        first = self._wait(letter if spec != letter else _FIRST_RUN)
        by_age = reading.constant or reading.averages or reading.by_call
        frozen = by_age and spec.treatment is Treatment.FROZEN
        treated = self._wait(replace(letter, treatment=spec.treatment)) if frozen else first
        return builder.reference(spec, first, treated)

    def _expected(self, spec: RunSpec) -> tuple[tuple[wire.Step, ...], ...]:
        """The first steps of all references that a frozen run is compared with, where all of them are done."""
        if spec.treatment is not Treatment.FROZEN or spec.intervention is not Intervention.NONE or self.spares:
            return ()  # or its steps are not those that are compared
        live = self._runs.done.get(replace(spec, treatment=Treatment.LIVE))
        if live is not None and live.names != self._wait(self._first_letter()).names:
            return ()  # what is expected goes by the order of an optimizer's parameters
        done = [self._runs.done.get(RunSpec.reference(one, Treatment.FROZEN)) for one in self._readings()]
        known = [trace for trace in done if trace is not None]
        return tuple(map(first_steps, known)) if len(known) == len(done) else ()

    def _wait(self, spec: RunSpec) -> wire.Trace:
        while spec not in self._runs.done:
            self._begin(spec, urgent=not self._peeking)
            number, request = self._runs.begun[spec]
            if self._peeking and not self._probe.ended(number):
                raise _NotYet
            self._run_ahead()
            if self._runs.begun.get(spec) != (number, request):
                continue  # meanwhile it has ended, or all runs were made anew
            self._probe.awaited = str(spec)
            trace = self._made(number)
            self._probe.awaited = ""
            self._computed += trace.computed
            del self._runs.begun[spec]
            if _ended_early(request, trace):
                self._runs.early.add(spec)
            if trace.late:
                request, self._runs.whole = _whole(request), True
                self._runs.begun[spec] = self._probe.submit(request), request
            else:
                self._runs.done[spec] = self._until_later(spec, request, trace)
                self._note_broken(spec)
        return self._runs.done[spec]

    def _made(self, number: int) -> wire.Trace:
        trace = self._probe.wait(number, self.target.time_limit)
        if trace.outcome == "instrument_failed":
            self.broken = self.broken or trace.detail
        return trace

    def _note_broken(self, spec: RunSpec) -> None:
        """Take what a mode raises, which looks like the script's: the same run, watched for less, does not fail."""
        plain, trace = self._runs.done.get(replace(spec, intervention=Intervention.NONE)), self._runs.done[spec]
        if spec.intervention.only_watches and trace.outcome == "failed" and plain is not None and plain.ended_well:
            self.broken = self.broken or f"{trace.reason} in a run that is watched for more"

    def _until_later(self, spec: RunSpec, request: wire.Request, trace: wire.Trace) -> wire.Trace:
        """A run that died where, and as, the unedited script dies later, as one that stopped there."""
        if self._runs.builder.spares:
            trace = without_idle_steps(trace)
        if trace.outcome != "failed":
            return trace
        if spec == _FIRST_RUN:
            own = not self.same_failure(trace) and later.beyond(trace, self.baseline)
        else:
            own = later.alike(trace, request, self._runs.done.get(_FIRST_RUN))
        return replace(trace, outcome="stopped") if own else trace

    def _run_ahead(self) -> None:
        with self._looking_ahead() as first:
            for judge in self._next if first else ():
                with contextlib.suppress(_NotYet):
                    judge()

    @contextlib.contextmanager
    def _looking_ahead(self) -> Iterator[bool]:
        """Have no run be waited for meanwhile; whether that was not so already."""
        before, self._peeking = self._peeking, True
        try:
            yield not before
        finally:
            self._peeking = before


def _whole(request: wire.Request) -> wire.Request:
    """The same run, watched from its first line on."""
    return replace(request, watch_from=0, at_once=False)


def _ended_early(request: wire.Request, trace: wire.Trace) -> bool:
    """Whether time ended a run: one that was to go on as far as another did stopped before it came there."""
    if trace.outcome != "stopped" or trace.failure is not None or trace.parted:
        return trace.outcome == "timed_out"
    if not request.stop_at:  # that one came to its end
        return bool(request.most) and all(map(operator.le, trace.counts, request.most))
    backwards, *steps = request.stop_at
    fewer = any(itertools.starmap(operator.lt, itertools.zip_longest(trace.counts, steps, fillvalue=0)))
    return trace.backward_count < backwards and (fewer or not steps)
