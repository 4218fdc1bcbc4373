"""The runs that bear on one edit of a failing program, each made when it is first asked for."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from autofix.core.model import Comparison, Diagnosis, Question, Reading, Refused, RunOutcome, Treatment
from autofix.experiments.compare import (
    comparable,
    differences,
    failed_with,
    of_rounding,
    same_or_rounded,
    shows_otherwise,
    starved,
)
from autofix.experiments.pool import Pool
from autofix.experiments.readings.learning import deprived
from autofix.experiments.sketches import EXACT, FROZEN, LIVE
from autofix.experiments.spec import Intervention, RunSpec
from autofix.experiments.unwritten import moved_values, sampled
from autofix.experiments.values import ended, line_of, taken_otherwise
from autofix.probe import wire
from autofix.syntax.sources import Sources
from autofix.verdict.parts.parts import Part, parts

Kept = TypeVar("Kept")
WAYS = (Treatment.LIVE, Treatment.FROZEN, Treatment.STILL)


@dataclass(frozen=True, slots=True)
class Case:
    """One failure, and the runs of its program. `offered`: edits were made by somebody else and may be anything."""

    pool: Pool
    diagnosis: Diagnosis
    offered: bool = False
    answered: tuple[Question, ...] = ()
    """What the code leaves open, and was answered."""

    def ended(self, trace: wire.Trace, files: Mapping[Path, bytes]) -> RunOutcome:
        """How the run of a script with these edited files ended."""
        if trace.outcome == "failed":
            return RunOutcome.SAME_FAILURE if self.pool.same_failure(trace, files) else RunOutcome.OTHER_FAILURE
        known = {
            "finished": RunOutcome.FINISHED, "stopped": RunOutcome.PASSED, "timed_out": RunOutcome.TIMED_OUT,
            "instrument_failed": RunOutcome.INSTRUMENT_FAILED,
        }  # fmt: skip
        return known.get(trace.outcome, RunOutcome.CRASHED)

    def passed(self, trace: wire.Trace) -> bool:
        """Whether it got past the failure."""
        return trace.outcome in ("stopped", "finished")


def lines(stack: wire.Stack) -> list[tuple[str, int]]:
    """The lines of a stack, which are the same where an expression in them is not."""
    return [(frame.file, frame.line) for frame in stack]


class once(functools.cached_property[Kept]):  # noqa: N801  read as a word: `@once`
    """A property that is kept, without the lock that Python 3.11 has for it in all objects at once.

    While a run is waited for, others are looked into: two repairs in two threads would wait for each other.
    """

    def __init__(self, find: Callable[[Any], Kept]) -> None:
        super().__init__(find)
        self.lock = contextlib.nullcontext()


def _reference(
    treatment: Treatment = Treatment.LIVE, intervention: Intervention = Intervention.NONE, **changes: bool
) -> once[wire.Trace]:
    """The run of the code, read with these changes."""
    return once(lambda runs: runs.of(replace(runs.code, **changes), treatment, intervention))


def _edit(treatment: Treatment = Treatment.LIVE, intervention: Intervention = Intervention.NONE) -> once[wire.Trace]:
    """The run of the edited script."""
    return once(lambda runs: runs.of_edit(treatment, intervention))


@dataclass(frozen=True, slots=True)
class Shortened:
    """Two runs, of the code and of the edit, in which the same loops ended early."""

    code: wire.Trace
    edited: wire.Trace
    tolerance: float

    @property
    def are_alike(self) -> bool:
        """Whether both train the same."""
        return _are_alike(self.code, self.edited, self.tolerance)

    def departure(self, *, printed: bool) -> str:
        """What is another in the edited run, as a clause; '' where nothing is, or time ended it."""
        code, edited = self.code, self.edited
        if edited.outcome == "failed":
            return f"the edited script stops with {failed_with(edited)}"
        if not edited.ended_well:
            return ""
        apart = differences(code, edited, self.tolerance, printed=printed)
        if apart and not of_rounding(apart):
            first = min(apart, key=lambda one: one.step)
            return first.note or f"{first.parameter} gets another gradient at step {first.step + 1}"
        place = taken_otherwise(code, edited)
        return f"the number that the code reads at {line_of(place)} has another value" if place else ""


class Runs:
    """The runs of one edit and of the references beside it, by the names that properties ask for them."""

    def __init__(self, case: Case, files: Mapping[Path, bytes]) -> None:
        self.case, self.files = case, files
        case.pool.read_by(self)

    def forget(self) -> None:
        """Ask for all runs again: they were made anew."""
        for name in vars(self).keys() - {"case", "files"}:
            delattr(self, name)

    @once
    def sources(self) -> Sources:
        """The files of the program as it is written."""
        return Sources.of(self.case.pool.target)

    @once
    def edited_sources(self) -> Sources:
        """The same with the edit."""
        return Sources.of(self.case.pool.target, self.files)

    @property
    def code(self) -> Reading:
        """The reading that stands for the code as it is written."""
        return self.case.pool.letters.first

    def of(
        self, reading: Reading, treatment: Treatment = Treatment.LIVE, intervention: Intervention = Intervention.NONE
    ) -> wire.Trace:
        """The reference of a reading."""
        return self.case.pool.get(RunSpec.reference(reading, treatment, intervention))

    def deprives(self, reading: Reading, other: Reading | None = None) -> bool:
        """Whether a reading cannot be run, or leaves nothing to a parameter that gets a gradient in another one.

        The other one is the code as written, where none is named.
        """
        run = self.of(reading)
        return bool(comparable(run)) or any(deprived(run, self.of(other or self.code)))

    def starves(self, reading: Reading, other: Reading | None = None) -> bool:
        """The same where it leaves nothing to a parameter at a single step."""
        run = self.of(reading)
        return bool(comparable(run)) or any(starved(self.of(other or self.code), run))

    def of_edit(
        self, treatment: Treatment = Treatment.LIVE, intervention: Intervention = Intervention.NONE
    ) -> wire.Trace:
        """The edited script."""
        return self.case.pool.get(RunSpec.edited(self.files, treatment, intervention))

    @property
    def failure(self) -> wire.Failure:
        """How the script as it stands fails."""
        return self.case.diagnosis.failure

    @property
    def baseline(self) -> wire.Trace:
        """The run of the script as it stands."""
        return self.case.pool.baseline

    @property
    def before_failure(self) -> int:
        """The steps that the script makes before it fails."""
        return sum(self.baseline.counts)

    def later(self, run: wire.Trace, optimizer: int) -> list[wire.Step]:
        """The steps of an optimizer to which the script does not come: an earlier phase may train otherwise."""
        return run.of(optimizer)[next(iter(self.baseline.counts[optimizer:]), 0) :]

    @property
    def trace(self) -> wire.Trace:
        """The run that explains the failure."""
        return self.case.diagnosis.trace

    @property
    def freed_by(self) -> set[wire.Stack]:
        """The backward calls that freed what the failing backward needs; empty where something else failed."""
        return {saved.freed_by for saved in self.trace.saved if saved.freed_by} if self.failure.in_backward else set()

    @property
    def behind(self) -> set[int]:
        """The optimizers that step behind the failing backward, before another one goes."""
        calls, segments = self.baseline.backward_count, self.letter.segments
        return set(segments[calls - 1]) if self.failure.in_backward and 0 < calls <= len(segments) else set()

    @property
    def reaches_others(self) -> bool:
        """Whether the failing loss also leads to what optimizers own that do not step behind it."""
        names, behind = self.letter.names, self.behind
        others = {name for index in range(len(self.letter.counts)) if index not in behind for name in names[index]}
        failing = (one for one in self.letter.reaches if lines(one.stack) == lines(self.failure.stack))
        return any(not others.isdisjoint(one.parameters) for one in failing)

    @property
    def whole_writes(self) -> list[wire.Stack]:
        """Where whole tensors of the same pass were written that a later backward needed.

        Of what was written by a name without graph: where it was given that name.
        """
        writes = (write for saved in self.trace.saved for write in saved.writes if write.whole and write.stack)
        return list(dict.fromkeys(write.alias or write.stack for write in writes))

    @property
    def weights(self) -> tuple[wire.Given, ...]:
        """What weighs log-probabilities, and leads to what failed."""
        return tuple(wire.Given(fact.stack, fact.subject) for fact in self.trace.seen("weight-has-graph"))

    @property
    def converts(self) -> bool:
        """Whether torch refuses to turn a tensor into an array or a number."""
        return any(done.kind == "conversion" for done in self.letter.performed)

    @property
    def through_numpy(self) -> bool:
        """Whether the reference keeps a graph through numpy, where the code as it stands loses it."""
        operation = self.converts and self.code.refused is Refused.OPERATION
        return operation or any(site.action == "follow" for site in self.case.pool.sites)

    @property
    def looks_at_gradient(self) -> bool:
        """Whether the program asks for the gradient of a tensor that is no leaf."""
        made = any(site.action in ("leaf", "update") for site in self.case.pool.sites)
        return made or any(done.kind == "nonleaf_gradient" for done in self.letter.performed)

    @property
    def may_be_collected(self) -> bool:
        """Whether what passes take from earlier ones may be made once: a law then asks what went into it."""
        return bool(self.letter.reused or (self.letter.carried and not self.trace.remade))

    @property
    def may_be_data(self) -> bool:
        """Whether what is so made may be data that was collected, as far as the reference tells."""
        return self.may_be_collected and (self.letter.anew or not self.letter.reused)

    @property
    def left_behind(self) -> str:
        """A parameter that is trained while what several passes share was made of it once, before; '' if none is."""
        letter = self.letter
        moved = (one.subject for one in letter.facts if one.name == "stale" and one.stack in letter.reused)
        if letter.again or letter.renewed or not (subject := next(moved, "")):
            return ""
        return "" if self.sourced.renewed else subject

    letter = _reference()
    """The reference: the code as it is written."""
    cut = _reference(truncated=True)
    """The reference in which no gradient flows into earlier passes."""
    constant = _reference(constant=True)
    """The reference in which no gradient flows into what is made once for several passes."""

    @once
    def old_values(self) -> wire.Trace | None:
        """The reference in which a name bound before a write keeps its value; None where no write can be meant so."""
        return self.of(replace(self.code, old_values=True)) if self.case.pool.written["old_values"] else None

    @once
    def old_values_frozen(self) -> wire.Trace | None:
        """The same with every step undone."""
        changed = replace(self.code, old_values=True)
        return self.of(changed, Treatment.FROZEN) if self.case.pool.written["old_values"] else None

    @once
    def old_values_moved(self) -> wire.Trace | None:
        """The same in which the value written is a little larger; None where that cannot be said."""
        pool = self.case.pool
        files = moved_values(pool.target, pool.written["old_values"], self.trace)
        return pool.get(replace(RunSpec.edited(files), reading=self.code)) if files else None

    @once
    def sample_moved(self) -> wire.Trace | None:
        """The reference in which a sample is a constant, and handed over a little otherwise; None if there is none."""
        return self._handed_otherwise(constant=True)

    @once
    def densities_moved(self) -> wire.Trace | None:
        """The reference while parameters rest in which a sample is handed over a little otherwise, with its graph.

        It is watched for what losses send to densities of it.
        """
        return self._handed_otherwise(Treatment.STILL, Intervention.COMPARED, constant=False)

    def _handed_otherwise(
        self,
        treatment: Treatment = Treatment.LIVE,
        intervention: Intervention = Intervention.NONE,
        *,
        constant: bool,
    ) -> wire.Trace | None:
        pool = self.case.pool
        if not pool.written["sampled"]:
            return None
        files = sampled(pool.target, self.case.diagnosis, constant=constant, moved=True)
        return pool.get(replace(RunSpec.edited(files, treatment, intervention), reading=self.code)) if files else None

    nudged = _reference(intervention=Intervention.NUDGED)
    """The reference in which derivatives without a graph, and refused conversions, are a little larger."""
    letter_frozen = _reference(Treatment.FROZEN)
    """The reference with every step undone."""
    nudged_frozen = _reference(Treatment.FROZEN, Intervention.NUDGED)
    """The nudged reference with every step undone: what a nudge changes there is no update's doing."""
    outputs = _reference(Treatment.FROZEN, Intervention.OUTPUTS)
    """The reference with every step undone, watched for the gradients that losses send to what modules give."""

    def shifted(self, owner: int) -> tuple[wire.Trace, ...]:
        """The same in which what the modules of one optimizer give is otherwise, and farther off the other way."""
        letter, ways = RunSpec.reference(self.code, Treatment.FROZEN), (Intervention.SHIFTED, Intervention.SHIFTED_FAR)
        specs = [replace(letter, intervention=how, owner=owner) for how in ways]
        self.case.pool.expect(*specs)
        return tuple(map(self.case.pool.get, specs))

    @once
    def sourced(self) -> wire.Trace:
        """The reference, watched for what went into a graph that several passes share."""
        spec = RunSpec.reference(self.code, intervention=Intervention.SOURCED)
        self.case.pool.expect(spec)
        if self.letter.reused:  # may that be a constant? a law or a question asks it next
            constant, frozen = replace(self.code, constant=True), RunSpec.reference(self.code, Treatment.FROZEN)
            self.case.pool.expect(RunSpec.reference(constant), frozen, urgent=False)
        return self.case.pool.get(spec)

    doubled = _reference(intervention=Intervention.DOUBLED)
    """The reference in which each backward sends twice as much from the failing pass on."""
    edited = _edit()
    """The edited script."""
    edited_nudged = _edit(intervention=Intervention.NUDGED)
    """The edited script in which derivatives without a graph are a little larger."""
    edited_frozen = _edit(Treatment.FROZEN)
    """The edited script with every step undone."""
    edited_nudged_frozen = _edit(Treatment.FROZEN, Intervention.NUDGED)
    """The nudged edit with every step undone: what a nudge changes there is no update's doing."""

    comparisons_at_rest = _reference(Treatment.STILL, Intervention.COMPARED)
    """The reference while parameters rest, watched for what is compared; the next while they move."""
    comparisons_moving = _reference(intervention=Intervention.COMPARED)
    edited_compared = _edit(intervention=Intervention.COMPARED)
    """The edited script, watched for whether what is compared is the same."""
    compiled = _edit(intervention=Intervention.COMPILED)
    """The edited script in which `torch.compile` compiles."""

    @once
    def without(self) -> list[tuple[Part, wire.Trace]] | None:
        """The edited script without each part of the edit that can be left out; None where there are too many."""
        found = self.parts_of(self.files)
        if found is None:
            return None
        specs = [RunSpec.edited(part.left_out(self.files)) for part in found]
        self.case.pool.expect(*specs)
        return [(part, self.case.pool.get(spec)) for part, spec in zip(found, specs, strict=True)]

    def parts_of(self, files: Mapping[Path, bytes], *, whole: bool = False) -> list[Part] | None:
        """The parts of this edit, or of one that is left of it; None where there are too many."""
        return parts({path: self.case.pool.target.read(path) for path in files}, files, whole=whole)

    def without_in(self, reading: Reading, part: Part) -> wire.Trace | None:
        """The reference of a reading without what a part of the edit removes; None where it removes no statement."""
        if part.gone is None or reading.rewritten:
            return None
        return self.case.pool.get(replace(RunSpec.edited({part.path: part.gone}), reading=reading))

    def left_of(self, files: Mapping[Path, bytes]) -> wire.Trace:
        """The script with what is left of the edit."""
        return self.case.pool.get(RunSpec.edited(files))

    def shortened(self, reading: Reading, how: Intervention, ways: Sequence[Treatment] = WAYS) -> Shortened | None:
        """Both runs with loops that train ended early: they come to what the compared passes do not.

        They are treated in the first of some ways in which the edit equals a reading in the passes compared. None where
        it does so in none, where the short code does not run, and where not the same loops end.
        """
        for treatment in ways:
            tolerance = LIVE if treatment is Treatment.LIVE else FROZEN
            both = self.of(reading, treatment), self.of_edit(treatment)
            if not _are_alike(*both, tolerance):
                continue
            specs = RunSpec.reference(reading, treatment, how), RunSpec.edited(self.files, treatment, how)
            self.case.pool.expect(*specs)
            code, edited = map(self.case.pool.get, specs)
            alike = _ended_alike(both, (code, edited)) and not comparable(code)
            return Shortened(code, edited, tolerance) if alike else None
        return None

    def to_the_end(self, reading: Reading, *ways: Treatment) -> Shortened | None:
        """The same of runs that came to the end of the script."""
        made = self.shortened(reading, Intervention.THROUGH, ways)
        return made if made and made.code.outcome == made.edited.outcome == "finished" else None

    def shows_otherwise(self, reading: Reading, other: Reading | None = None) -> str:
        """What the edit, or another reading, shows otherwise than a reading to the end of the script; '' if nothing."""
        specs = RunSpec.reference(reading), RunSpec.edited(self.files) if other is None else RunSpec.reference(other)
        one, two = (replace(spec, intervention=Intervention.THROUGH) for spec in specs)
        self.case.pool.expect(one, two)
        runs = self.case.pool.get(one), self.case.pool.get(two)
        return shows_otherwise(*runs) and shows_otherwise(*runs, self.case.pool.get(replace(one, times=2)))

    def keeping(self, reading: Reading) -> wire.Trace:
        """A reading to the end of the script, in which arrays keep the values that they were taken with."""
        return self.case.pool.get(RunSpec.reference(reading, intervention=Intervention.KEEPING))

    def shows_copies(self, reading: Reading) -> bool:
        """Whether the edit shows what a reading does with such arrays, and not where they follow weights."""
        kept, spec = self.keeping(reading), RunSpec.reference(reading, intervention=Intervention.THROUGH)
        shared, again = (self.case.pool.get(replace(spec, times=times)) for times in (1, 2))
        if not shows_otherwise(shared, kept, again):
            return False
        edited = self.case.pool.get(RunSpec.edited(self.files, intervention=Intervention.THROUGH))
        return ended(kept, edited) and not shows_otherwise(kept, edited)

    def further(
        self, reading: Reading, ways: Sequence[Treatment] = WAYS, turned: tuple[str, ...] = ()
    ) -> Shortened | None:  # fmt: skip
        """Both runs, for a while behind what is compared otherwise; None where they are not alike in that.

        `turned`: the comparisons that give the opposite in both.

        Parameters move only where all that is compared is the same to the last bit: rounding would grow with them.
        """
        for treatment in ways:
            tolerance = EXACT if treatment is Treatment.LIVE else FROZEN
            if not _are_alike(self.of(reading, treatment), self.of_edit(treatment), tolerance):
                continue
            lead = replace(RunSpec.reference(reading, treatment, Intervention.FURTHER), turned=turned)
            follows = replace(lead, files=RunSpec.edited(self.files).files, reading=None, beside=reading)
            code = self.case.pool.get(lead)
            made = None if comparable(code) else self.case.pool.get(follows)
            return Shortened(code, made, max(tolerance, LIVE)) if made is not None else None
        return None

    def dies_further(self, reading: Reading) -> str:
        """Of what the edited script dies as it goes on, where the code died there, too; '' if it does not.

        That is said of what is autograd's, and of what comes before the code died.
        """
        leads = (RunSpec.reference(reading, treatment, Intervention.FURTHER) for treatment in WAYS)
        made = [run for run in map(self.case.pool.made, leads) if run is not None and run.outcome == "failed"]
        edited = (
            self.case.pool.get(replace(RunSpec.edited(self.files), intervention=Intervention.FURTHER)) if made else None
        )
        if edited is None or edited.failure is None or edited.outcome != "failed":
            return ""
        before = all(edited.backward_count < one.backward_count for one in made)
        return failed_with(edited) if before or edited.failure.in_backward or edited.failure.kind else ""

    def sharing(self, reading: Reading) -> tuple[wire.Trace, wire.Trace]:
        """The edited script as it goes on with arrays that keep their values, and with those that follow weights."""
        spec, ways = RunSpec.edited(self.files), (Intervention.UNSHARED, Intervention.FURTHER)
        kept, shared = (self.case.pool.get(replace(spec, intervention=how, beside=reading)) for how in ways)
        return kept, shared

    def compared(self, reading: Reading | None) -> tuple[Comparison, ...]:
        """The runs of a reading (of the code as written where it is None) and of the edit that were made alike."""
        made, found = self.case.pool.made, []
        for treatment in (Treatment.LIVE, Treatment.FROZEN):
            one = made(RunSpec.reference(reading or self.code, treatment))
            other = made(RunSpec.edited(self.files, treatment))
            found += [Comparison(treatment, one, other)] if one and other else []
        return tuple(found)


def _are_alike(code: wire.Trace, edited: wire.Trace, tolerance: float) -> bool:
    """Whether two runs that ended well train the same, but for what rounding leaves."""
    return edited.ended_well and not comparable(code) and same_or_rounded(code, edited, tolerance)


def _ended_alike(whole: tuple[wire.Trace, wire.Trace], short: tuple[wire.Trace, wire.Trace]) -> bool:
    """Whether the same loops ended early in the code and in the edit, as far as that came; a limit is no end."""
    code, edited = ({*now.notes} - {*then.notes} for now, then in zip(short, whole, strict=True))
    return edited <= code if short[1].failure else edited == code and short[1].ended_well
