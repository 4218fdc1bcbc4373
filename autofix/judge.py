"""Says what a candidate does to the gradients: its runs against the references, the guards, the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix import unmeant
from autofix.blame import blame
from autofix.compare import (
    EXACT,
    FROZEN,
    LIVE,
    comparable,
    cuts_the_graph,
    differences,
    figures,
    lost_writes,
    norm,
    norms,
    same_shape,
    vanished,
)
from autofix.doubts import Doubts
from autofix.model import Applicability, Cause, Effect, RunOutcome, Verdict
from autofix.parts import parts
from autofix.probe import wire
from autofix.readings import OPERATION, UPDATE, unsaid, words
from autofix.references import base, died_later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from autofix.model import Change, Diagnosis
    from autofix.references import References

_WELL = (RunOutcome.PASSED, RunOutcome.FINISHED)


class Judge:
    """Says what candidates for one failure do to the gradients."""

    def __init__(self, references: References, diagnosis: Diagnosis, *, offered: bool = False) -> None:
        """`offered`: the edits to judge were made by somebody else, and may be anything."""
        self._references = references
        self._offered = offered
        self._diagnosis = diagnosis
        self._doubts = Doubts(references, diagnosis)

    # Verdicts -------------------------------------------------------------------------------------------------------

    def outcome(self, trace: wire.Trace) -> RunOutcome:
        """How a candidate's live run ended."""
        if trace.outcome == "finished":
            return RunOutcome.FINISHED
        if trace.outcome == "stopped":
            return RunOutcome.PASSED
        if trace.outcome == "failed":
            return RunOutcome.SAME_FAILURE if self._references.same_failure(trace) else RunOutcome.OTHER_FAILURE
        return RunOutcome.TIMED_OUT if trace.outcome == "timed_out" else RunOutcome.CRASHED

    def verdict(
        self, files: Mapping[Path, bytes], ceiling: Applicability, others: Sequence[Mapping[Path, bytes]] = ()
    ) -> Verdict:  # fmt: skip
        """The verdict on a candidate; its live run is begun here where it is not under way.

        `others` are to be judged next, and their live runs are under way: their frozen runs go on beside its own.
        """
        self._references.proven()
        live = self._references.candidate(files)
        ended = self.outcome(live)
        if ended not in _WELL:
            return Verdict(
                ended, Effect.UNKNOWN, Applicability.DISPLAY_ONLY, live.detail.splitlines()[0] if live.detail else "",
                detail=live.detail, seconds=live.seconds, failure=live.failure,
            )  # fmt: skip
        effect, summary, changes, reading = self._effect(files, live, others)
        guards = (
            *self._doubts.about(files, live, effect), *self._unmeant(files, live, effect),
            *self._unneeded(files, live, effect, reading),
        )  # fmt: skip
        trusted = effect.keeps_gradients and not guards
        applicability = ceiling.lowered(Applicability.SAFE if trusted else Applicability.UNSAFE)
        full = self._references.live()
        return Verdict(
            ended, effect, applicability, summary, guards, tuple(changes), reading,
            seconds=live.seconds, peak_bytes=live.peak_bytes,
            failure=full.failure if died_later(full) and died_later(live) else None,
            compared=self._references.compared(reading or self._references.bases()[0], files),
        )  # fmt: skip

    def _unmeant(self, files: Mapping[Path, bytes], live: wire.Trace, effect: Effect) -> Iterator[wire.Guard]:
        """What no author means, whatever the letter of the code says."""
        yield from unmeant.lost(files, self._references.read)
        if effect.keeps_gradients:
            full = self._references.live(self._references.bases()[0])
            yield from unmeant.starved(live, full)
            yield from unmeant.overwritten(full)

    def _unneeded(
        self, files: Mapping[Path, bytes], live: wire.Trace, effect: Effect, reading: str
    ) -> tuple[wire.Guard, ...]:  # fmt: skip
        """A part of somebody else's edit that repairs nothing, and that the runs saw nothing of: it was not judged.

        What a dropped scheduler, a clip that does not bind yet or a shorter loop changes comes after the runs compared.
        """
        if not (self._offered and effect.keeps_gradients):
            return ()
        pieces = parts({path: self._references.read(path) for path in files}, files)
        if pieces is None:
            return (wire.Guard("unneeded", "the edit has too many parts to try it without each of them", ()),)
        edits = [{**files, piece.path: piece.without} for piece in pieces]
        for edit in edits:
            self._references.try_out(edit)
        how = self._how(reading or self._references.bases()[0])
        for piece, edit in zip(pieces, edits, strict=True):
            other = self._references.candidate(edit)
            passed = self.outcome(other) in _WELL
            # What only autograd notices shows in the graphs; where these are alike too, it is there to save memory.
            harmless = piece.graph_only and same_shape(live, other)
            if passed and not harmless and not differences(live, other, LIVE, **how):
                detail = f"{piece.words} is not needed for the repair, and the runs compared do not show what it is for"
                frame = wire.Frame(str(piece.path), piece.line, 0, piece.line, 0, "")
                return (wire.Guard("unneeded", detail, (frame,) if piece.line else ()),)
        return ()

    def _without_frozen(
        self, files: Mapping[Path, bytes], live: wire.Trace
    ) -> tuple[Effect, str, Sequence[Change], str] | None:  # fmt: skip
        """The effect of a candidate where its live run decides it."""
        full = self._references.live(self._references.bases()[0])
        reason = (
            unsaid(self._diagnosis, full)
            or comparable(full)
            or self._references.proven()
            or self._unseen(full)
            or (_unexecuted(live, "writes") or _unexecuted(full, "removes"))
            or self._unread(files, live, full)
        )
        if reason:
            return Effect.UNKNOWN, reason, (), ""
        if self._diagnosis.cause is Cause.CONVERSION and (gone := vanished(full, live)):
            return Effect.CHANGED, _changed_words(gone, full, live), gone, ""
        if (exact := self._exactly(live)) is not None:
            return exact
        if not self._void() and all(cuts_the_graph(self._references.live(name), live) for name in self._all_names()):
            apart = differences(full, live, LIVE)
            return Effect.CHANGED, _changed_words(apart, full, live), apart, ""
        return None

    def _look_ahead(self, others: Iterable[Mapping[Path, bytes]]) -> None:
        """Begin the frozen runs of those candidates whose live run has ended and does not decide it."""
        for files in filter(self._references.ended, others):
            live = self._references.candidate(files)
            if self.outcome(live) in _WELL and self._without_frozen(files, live) is None:
                self._references.begin_frozen(files, self._all_names())

    def _effect(
        self, files: Mapping[Path, bytes], live: wire.Trace, others: Sequence[Mapping[Path, bytes]]
    ) -> tuple[Effect, str, Sequence[Change], str]:  # fmt: skip
        if (decided := self._without_frozen(files, live)) is not None:
            return decided
        self._references.begin_frozen(files, self._all_names())
        self._look_ahead(others)
        frozen = self._references.candidate(files, frozen=True)
        if frozen.outcome not in ("finished", "stopped"):
            detail = frozen.detail.splitlines()[0] if frozen.detail else frozen.outcome
            return Effect.UNKNOWN, f"the run with steps undone did not end well: {detail}", (), ""
        found = [self._against(name, live, frozen, files) for name in self._references.bases()]
        equal = [one for one in found if one[0] not in (Effect.CHANGED, Effect.UNKNOWN)]
        if equal and (len(equal) < len(found) or self._void()):
            return self._two_readings(equal[0])
        effect, summary, changes, reading = (equal or found)[0]
        if effect is Effect.CHANGED and self._void():
            return Effect.UNKNOWN, "the code does not say which gradient is meant", (), reading
        if effect is Effect.CHANGED and not reading and (noise := self._references.noise()):
            return Effect.UNKNOWN, noise, changes, ""
        return effect, self._with_reading(summary), changes, reading

    def _exactly(self, live: wire.Trace) -> tuple[Effect, str, Sequence[Change], str] | None:
        """The effect where a candidate equals a reference to the last bit, from perturbed parameters; else None.

        Both then did the same at every step, and nothing was hidden by a zero. That says enough of an edit that a rule
        made. In one by somebody else an operation may be another, and yet give the same while values are as they are (a
        clamp that does not bind): frozen runs, which wander further, have to agree too.
        """
        names = self._references.bases()
        full = self._references.live(names[0])
        if self._offered or len(names) > 1 or self._void() or not (_moves(full) and full.intact and live.intact):
            return None
        for name in self._names(names[0]):
            reference = self._references.live(name)
            if not comparable(reference) and not differences(reference, live, EXACT, **self._how(name)):
                effect, summary, changes, reading = self._equal(name, live, same_live=True)
                return effect, self._with_reading(summary), changes, reading
        return None

    def _how(self, name: str) -> dict[str, bool]:
        """What to compare besides the gradients that optimizers used."""
        full = self._references.live(base(name))
        # What a conversion or a tensor's own gradient gives, and what comes after the last step, shows in print.
        looked_at = self._diagnosis.cause in (Cause.CONVERSION, Cause.NONLEAF_GRADIENT)
        printed = full.counts == self._references.baseline.counts or looked_at
        # Where a result keeps its gradient, the leaves behind it count only if the program still holds them.
        kept = OPERATION in name and self._diagnosis.cause is Cause.NONLEAF_GRADIENT
        leaves = not kept or (UPDATE in self._references.contradicted and not full.steps)
        return {"printed": printed, "leaves": leaves}

    def _void(self) -> bool:
        """Whether the program speaks against every reading, so that an edit may differ from them."""
        return {
            OPERATION if OPERATION in name else UPDATE for name in self._references.bases()
        } <= self._references.contradicted.keys()

    def _against(
        self, name: str, live: wire.Trace, frozen: wire.Trace, files: Mapping[Path, bytes]
    ) -> tuple[Effect, str, Sequence[Change], str]:  # fmt: skip
        """The effect of a candidate against one reading of the refused write, if there is one."""
        runs = self._references
        full = runs.live(name)
        names = [other for other in self._names(name) if not comparable(runs.frozen(other))]
        if not names:
            return Effect.UNKNOWN, comparable(runs.frozen(name)) or "no reference could be compared with", (), ""
        how = self._how(name)
        at_ends = not how["leaves"] and not full.steps
        equal = [one for one in names if at_ends or not differences(runs.frozen(one), frozen, FROZEN, **how)]
        for one in equal:
            if not differences(runs.live(one), live, LIVE, **how):
                return self._equal(one, live, same_live=True)
        for one in (equal or self._equal_at_rest(names, files)) if not how["printed"] else ():
            if not cuts_the_graph(runs.live(one), live) and not lost_writes(runs.live(one), live):
                return self._equal(one, live, same_live=False)
        first = runs.live(names[0])
        apart = differences(first, live, LIVE, **how) or differences(runs.frozen(names[0]), frozen, FROZEN, **how)
        return Effect.CHANGED, _changed_words(apart, first, live), apart, ""

    def _equal_at_rest(self, names: list[str], files: Mapping[Path, bytes]) -> list[str]:
        """Readings that the edit equals while parameters do not drift from round to round.

        For scripts whose own fault is a graph that outlives a round: made anew, it cannot equal its stale self under
        drift. Then the graphs behind each step's gradients must be made of the same operations.
        """
        if not self._outlived(self._references.live(names[0])):
            return []
        mine = self._references.candidate(files, frozen=True, still=True)
        stills = {name: self._references.frozen(name, still=True) for name in names}
        return [
            name
            for name, still in stills.items()
            if not comparable(still) and not differences(still, mine, FROZEN) and same_shape(still, mine)
        ]

    def _outlived(self, full: wire.Trace) -> bool:
        stale = any(guard.name == "stale" for guard in full.guards) or bool(full.reused)
        stepped = any(write.optimizer >= 0 for saved in self._diagnosis.trace.saved for write in saved.writes)
        if self._diagnosis.cause is Cause.FREED_GRAPH and not self._offered:
            # A rule first keeps the graph, and meets what the step wrote only then.
            failed = self._references.baseline.backward_count
            stepped = stepped or any(step.calls == failed - 1 for step in full.steps)
        return stale or (stepped and len(full.counts) == 1)

    def _two_readings(
        self, one: tuple[Effect, str, Sequence[Change], str]
    ) -> tuple[Effect, str, Sequence[Change], str]:  # fmt: skip
        """An edit that follows one reading where the program does not tell which is meant, or speaks against it."""
        mine = OPERATION if OPERATION in one[3] else UPDATE
        other = UPDATE if mine == OPERATION else OPERATION
        said = words(self._references.live(self._references.bases()[0]))
        if why := self._references.contradicted.get(mine):
            return Effect.CHANGED, f"changed: with this edit {why}", one[2], one[3]
        summary = f"the code can mean two things: with this edit {said[mine]}; it may be that {said[other]}"
        return Effect.UNKNOWN, summary, one[2], one[3]

    def _with_reading(self, summary: str) -> str:
        """The summary, and why a refused write is taken in the one way that is left."""
        if len(self._references.contradicted) != 1:
            return summary
        ((reading, why),) = self._references.contradicted.items()
        said = words(self._references.live(self._references.bases()[0]))[reading]
        return f"{summary}; it cannot be that {said}: {why}"

    def _unseen(self, full: wire.Trace) -> str:
        """Why nothing after the failure can be compared; '' where something can."""
        first = self._references.baseline
        passed = full.counts != first.counts if full.steps else len(full.leaves) > first.backward_count
        if passed or figures(full.stdout) > figures(first.stdout):
            return ""
        return "after the failure no step, leaf gradient or printed number follows that could be compared"

    def _unread(self, files: Mapping[Path, bytes], live: wire.Trace, full: wire.Trace) -> str:
        """Which changed file the runs never loaded as code; '' where there is none."""
        for path in files if self._offered else ():
            if str(path) not in live.marked.keys() | full.marked.keys():
                return f"{path.name}, which the edit changes, was not loaded within the passes compared"
        return ""

    def _all_names(self) -> Iterator[str]:
        for name in self._references.bases():
            yield from self._names(name)

    def _names(self, name: str) -> Iterator[str]:
        """The readings worth comparing with behind a literal one, itself first."""
        yield name
        full = self._references.live(name)
        crossed = any(guard.name == "cross-talk" for guard in full.guards)
        mode = f"+{OPERATION}" if OPERATION in name else ""
        if full.carried:
            yield f"truncated{mode}"
        if crossed:
            yield f"separated{mode}"
        if crossed and full.carried:
            yield f"truncated+separated{mode}"

    def _equal(
        self, name: str, live: wire.Trace, *, same_live: bool
    ) -> tuple[Effect, str, Sequence[Change], str]:  # fmt: skip
        words = _tensors(live)
        if "separated" in name:
            apart = differences(self._references.live(base(name)), live, LIVE)
            return (
                Effect.CHANGED,
                "each step uses its own loss alone; in the code as written a step also uses what another loss left",
                apart, name,
            )  # fmt: skip
        if "truncated" in name:
            effect = Effect.TRUNCATED if same_live else Effect.REFRESHED_TRUNCATED
            return effect, f"{words} equal within each iteration; none flows into earlier iterations", (), name
        if same_live:
            return Effect.IDENTICAL, f"{words} identical", (), name
        return Effect.REFRESHED, f"{words} the same, computed with parameters one update newer", (), name


def _moves(trace: wire.Trace) -> bool:
    """Whether steps move what has a gradient: what is to follow parameters shows only once these move."""
    # One evaluation of a closure has no change of its own.
    steps = [step for step in trace.steps if step.settings != "closure"]
    return bool(steps) and all(_any(step.changes) or not _any(step.gradients) for step in steps)


def _any(sketches: Sequence[tuple[float, ...]]) -> bool:
    return any(norm(sketch) > 0 for sketch in sketches)


def _unexecuted(trace: wire.Trace, verb: str) -> str:
    """A changed statement that the run never reached cannot have been judged."""
    for path, places in trace.marked.items():
        missed = sorted(set(places) - set(trace.executed.get(path, ())))
        if missed:
            name = path.rsplit("/", 1)[-1]
            return f"line {missed[0] // 10_000} of {name}, which the edit {verb}, never ran within the passes compared"
    return ""


def _tensors(live: wire.Trace) -> str:
    """Whose gradients were compared: 'gradients of G (4 tensors) and D (4 tensors) at 3 steps are'."""
    groups = live.names[: len(live.counts)] if live.steps else live.names[-1:]
    parts = []
    for names in groups:
        owners = list(dict.fromkeys(name.split(".")[0] for name in names))
        label = ", ".join(owners[:3]) + (", ..." if len(owners) > 3 else "")  # noqa: PLR2004
        parts.append(f"{label} ({len(names)} tensor{'s' if len(names) != 1 else ''})")
    steps = len(live.steps) or len(live.leaves)
    where = f"{steps} step{'s' if steps != 1 else ''}" if live.steps else f"{steps} backward calls"
    return f"gradients of {' and '.join(parts) or 'all leaves'} at {where} are"


def _changed_words(changes: Sequence[Change], reference: wire.Trace, candidate: wire.Trace) -> str:
    first = changes[0]
    if first.note:
        return f"changed: {first.note}"
    more = len({change.parameter for change in changes}) - 1
    others = f" (and {more} more)" if more else ""
    return (
        f"changed: {first.parameter}{others} gets {norms(first)} at step {first.step + 1}"
        f"{blame(first, reference, candidate)}"
    )
