"""Which readings of a refused operation the rest of the program allows.

torch refuses a write to a leaf because it can mean two things. As an *update* the values change and no gradient knows
of it; as an *operation* the write is part of the forward. Likewise a tensor whose gradient is asked for, but which is a
result, can be meant as a leaf of its own or as that result. Both are run as references. A reading that the rest of the
program contradicts is left out: one in which the script dies, one in which parameters that an optimizer owns lose the
gradient that they get in the other, an operation whose result no later backward uses, and an update where something
that an optimizer owns learns from data by the write alone, or that leaves the graph unused which a derivative is given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from autofix.core.model import Cause, Diagnosis, Reading, Refused
from autofix.experiments.compare import comparable, failed_with, same_gradients, same_moves
from autofix.experiments.later import died_early
from autofix.experiments.losses import differ
from autofix.experiments.readings.learning import deprived, forsaken, gradients, orphans
from autofix.experiments.sketches import FOLLOWED, norm
from autofix.probe import wire

UPDATE, OPERATION = Refused.UPDATE, Refused.OPERATION
WORDS = {
    UPDATE: "the write updates the values, and has no gradient",
    OPERATION: "the write is part of the forward, and has a gradient",
}
LEAF_WORDS = {
    UPDATE: "the tensor is a new leaf, detached from what it was computed from",
    OPERATION: "the tensor keeps its graph to what it was computed from",
}
FLAG_WORDS = {
    UPDATE: "requires_grad is set on the tensor, which is detached from what it was computed from",
    OPERATION: "requires_grad is set on the leaves behind the tensor, which are frozen",
}
LOSS_WORDS = {
    UPDATE: "the sum of the values is the loss",
    OPERATION: "their mean is the loss",
}
COMPLEX_WORDS = {
    UPDATE: "its real part is the loss",
    OPERATION: "its magnitude is the loss",
}
_NONSCALAR, _COMPLEX = "nonscalar_backward", "complex_loss"
ARRAY_WORDS = {
    UPDATE: "the array is a constant",
    OPERATION: "gradients flow through the array to the tensor that it was computed from",
}
COPY_WORDS = {
    UPDATE: "the copy is a constant",
    OPERATION: "gradients flow through the copy to the tensor that was copied",
}
_WRITES = ("leaf_modified", "view_modified")
_ENTERS = (*_WRITES, "conversion")
"""What, as an operation, has to be used by a backward."""
_FLAGS = ("flag-is-lost", "flag-holds")
"""Whether a flag that a script sets on what a module computes would come to nothing as one of that tensor."""
_LOST = "no_graph"
_GUESSED = ("nonleaf_gradient", _LOST)


@dataclass(frozen=True, slots=True)
class Letters:
    """What the code can mean by what torch refuses, at least one; and of a meaning that it cannot have, why not.

    Where the program speaks against all of them, all are kept.
    """

    readings: tuple[Reading, ...]
    contradicted: Mapping[Refused, str] = field(default_factory=dict)
    alike: bool = False
    """Whether all of them move the parameters alike, though their gradients differ: by their size, before Adam."""

    @property
    def first(self) -> Reading:
        """The reading that runs end with, and that stands for the code where there is but one."""
        return self.readings[0]

    @property
    def void(self) -> bool:
        """Whether the program speaks against every reading, so that an edit may differ from them."""
        return {one.refused for one in self.readings} <= self.contradicted.keys()


def letters(
    update: wire.Trace,
    operation: Callable[[], wire.Trace],
    nudged: Callable[[], wire.Trace],
    stirred: Callable[[Refused], wire.Trace | None],
    *,
    sites: bool,
) -> Letters:
    """The meanings of a refused operation that the rest of the program allows, by how the references of both ran.

    `operation` is run only where there is a second meaning, `nudged` where an array may be one, `stirred` where an
    optimizer owns what has no gradient; `sites`: the reference does what the script does not.
    """
    why = contradiction(UPDATE, update, update, _without_part(UPDATE, update, update, stirred)) if sites else ""
    only = Letters((Reading(UPDATE),), {UPDATE: why} if why else {})
    if not (ambiguous(update) or _lost_by_conversion(update)):
        if not _enters_a_loss(update, nudged):
            return only
        asked = any(asks(update, operation()) for asks in (_weighs, _copies, _compares))
        if not (asked or any(deprived(update, operation()))):
            return _with_terms(update, operation(), only)
    other = operation()
    both = (UPDATE, update, other), (OPERATION, other, update)
    against = {one[0]: contradiction(*one, _without_part(*one, stirred)) for one in both}
    if other.outcome == "failed" and update.seen("written-in-forward"):
        against[OPERATION] = ""  # what could not be run may be meant all the same
    found = {refused: why for refused, why in against.items() if why}
    alike = not comparable(update) and not comparable(other) and same_moves(update, other)
    if weighed(update):
        # Where gradients have one size, something sets it, such as clipping, and may do so for one alone later.
        alike = alike and not same_gradients(update, other)
        found = {} if alike else found  # whichever of them is meant, both train it
    kept = tuple(Reading(refused) for refused in against if refused not in found)
    return Letters(kept or tuple(map(Reading, against)), found, alike and not found)


def _with_terms(update: wire.Trace, operation: wire.Trace, only: Letters) -> Letters:
    """The array as part of the forward, where a term of a loss is made of it alone, or a derivative is.

    Nobody means a constant term, nor the derivative of a network for a constant.
    """
    same = comparable(operation) or same_gradients(update, operation, FOLLOWED)
    found = next((why for fact, why in _NO_CONSTANTS.items() if operation.seen(fact)), "")
    if same or not found:
        return only
    against = {UPDATE: found}
    if why := contradiction(OPERATION, operation, update):
        return Letters((*only.readings, Reading(OPERATION)), against | {OPERATION: why})
    return Letters((Reading(OPERATION),), against)


def _weighs(update: wire.Trace, operation: wire.Trace) -> bool:
    """Whether an array in a loss is made of what optimizers own alone, and what they own learns otherwise by it.

    Such a weight may be learned, as that of each of several tasks, or be a constant to this loss, as a temperature.
    """
    known = operation.seen("array-of-parameters") and not comparable(operation)
    return bool(known) and not same_gradients(update, operation, FOLLOWED)


def _copies(update: wire.Trace, operation: wire.Trace) -> bool:
    """Whether a loss is made of a deep copy, and what optimizers own learns otherwise through that.

    A copy may be a constant, as a target is, or the same value once more, to be written or carried on.
    """
    known = update.seen("copies-deeply") and not comparable(operation)
    return bool(known) and not same_gradients(update, operation)


def _compares(update: wire.Trace, operation: wire.Trace) -> bool:
    """Whether a loss compares an array with what it was computed from, and what optimizers own learns otherwise by it.

    Centres of classes may be constants, or be trained with the rest.
    """
    refused = {done.stack for done in update.performed}
    known = not comparable(operation) and any(one.stack in refused for one in operation.seen("array-is-compared"))
    return known and not same_gradients(update, operation, FOLLOWED)


def teaches(sample: wire.Trace, update: wire.Trace, operation: wire.Trace, nudged: Callable[[], wire.Trace]) -> bool:
    """Whether a sample that is a constant lets learn whatever learns through the array, and does not without.

    Then nobody need mean that gradients flow through the array. It has to enter a loss, as a reward does.
    """
    if comparable(sample) or _weighs(update, operation) or not any(deprived(update, sample)):
        return False
    return not any(deprived(sample, operation)) and _enters_a_loss(update, nudged)


def _without_part(
    reading: Refused, run: wire.Trace, other: wire.Trace, stirred: Callable[[Refused], wire.Trace | None]
) -> Collection[str]:  # fmt: skip
    """What an optimizer owns and no reading has a gradient for, because it takes no part in any loss.

    Where a graph was lost, the place that lost it may be another than the one that was found.
    """
    kinds = {done.kind for done in run.performed}
    idle = set(orphans(run)) if kinds & {*_GUESSED} else set()
    if _LOST not in kinds:
        idle &= set(orphans(other)) if other is not run and other.outcome != "failed" else set()
    moved = stirred(reading) if idle else None
    return idle if moved and len(moved.whole_steps) > 1 and not differ(moved, run) else ()


def behind(letter: Reading, run: wire.Trace) -> Iterator[Reading]:
    """The readings worth comparing with behind a letter whose live reference ran, itself first."""
    crossed = bool(run.seen("cross-talk"))
    yield letter
    if run.carried:
        yield replace(letter, truncated=True)
    if crossed:
        yield replace(letter, separated=True)
    if crossed and run.carried:
        yield replace(letter, truncated=True, separated=True)


_NO_CONSTANTS = {
    "term-is-array": "a term of the loss is a plain number, which trains nothing",
    "derivative-is-array": "a derivative in the loss is a plain number, which trains nothing",
}
"""What shows in the reference that an array is no constant, and what the other meaning would then come to."""
_UNSAID = {
    Cause.NONSCALAR_BACKWARD: "the code does not say which number is the loss: the sum of these values, or their mean",
    Cause.NO_GRAPH: "the code does not say which part of the loss is meant to have a gradient",
    Cause.PARAMETER_ASSIGNED: "the code does not say whether this is an update of the parameter, or a value for this "
    "iteration alone",
    Cause.NONLEAF_GRADIENT: "the code does not say whose gradient is meant: that of this result, or of a new leaf "
    "with its value",
}


def unsaid(diagnosis: Diagnosis, reference: wire.Trace) -> str:
    """Why there is no gradient to compare with where the reference dies of the failure itself; '' elsewhere."""
    if reference.failure is None or reference.failure.kind != diagnosis.cause:
        return ""
    return _UNSAID.get(diagnosis.cause, "")


def weighed(run: wire.Trace) -> bool:
    """Whether a reference went backward from several values, of which nothing says what each counts."""
    return any(done.kind == _NONSCALAR for done in run.performed)


def ambiguous(run: wire.Trace) -> bool:
    """Whether a reference run performed something that has a second reading."""
    return any(done.kind in (*_WRITES, "nonleaf_gradient", _NONSCALAR, _COMPLEX) for done in run.performed)


def _lost_by_conversion(run: wire.Trace) -> bool:
    """Whether the script dies, or trains nothing at all, where an array is a constant that torch refused to make.

    Where something trains, the array is a target, a weight or an input, and a constant as everybody knows.
    """
    converts = any(done.kind == "conversion" for done in run.performed)
    if converts and died_early(run):
        return True
    stepped = [used for index in range(len(run.counts)) for used in gradients(run, index)]
    trained = any(norm(gradient) > 0 for used in stepped for gradient in used)
    return converts and (run.outcome == "failed" or (bool(stepped) and not trained))


def _enters_a_loss(run: wire.Trace, nudged: Callable[[], wire.Trace]) -> bool:
    """Whether a loss may depend on an array that torch refused to make."""
    if run.outcome == "failed" or not any(done.kind == "conversion" for done in run.performed):
        return False
    other = nudged()
    return bool(comparable(other)) or differ(other, run)


def words(run: wire.Trace) -> dict[Refused, str]:
    """The readings of what a reference run performed, as clauses."""
    kinds = {done.kind for done in run.performed}
    if "conversion" in kinds:
        return COPY_WORDS if run.seen("copies-deeply") else ARRAY_WORDS
    if any(map(run.seen, _FLAGS)):
        return FLAG_WORDS
    if _COMPLEX in kinds and not kinds & {*_WRITES}:
        return COMPLEX_WORDS
    return WORDS if kinds & {*_WRITES} else LOSS_WORDS if _NONSCALAR in kinds else LEAF_WORDS


def contradiction(reading: Refused, run: wire.Trace, other: wire.Trace, unused: Collection[str] = ()) -> str:
    """Why the program cannot mean a reading, judged by how it ran and how the other one did; '' if it can.

    `unused`: what has no gradient in any reading, which says nothing.
    """
    if run.outcome == "failed" or (died_early(run) and other.steps):
        return f"the script stops with {failed_with(run)}"
    writes = [done for done in run.performed if done.kind in _ENTERS]
    if run.seen("flag-is-bypassed"):
        return "a gradient goes to a result whose flag was off, and no farther"
    if reading == OPERATION and writes and not any(done.used for done in writes):
        return "no backward ever uses the result"
    if seen := next(_seen(reading, run, other), ""):
        return seen
    frozen = {fact.subject for fact in run.seen("stays-frozen")}
    lost = list(deprived(run, other, zeros=True)) if other.outcome != "failed" else []
    if any(done.kind in _GUESSED for done in run.performed):
        lost += (name for name in orphans(run) if name not in unused)
    lost = [name for name in lost if name not in frozen]
    written = {fact.subject for fact in run.seen("written-of")}
    lost += [name for name in orphans(run) if name in written]
    if run.left_out and not run.steps:  # what an optimizer is given need not be all that could be trained
        return f"{run.left_out[0]}, from which it is computed, would get no gradient"
    if left := next(forsaken(run), ""):
        return f"{left}, from which it is computed, would get no gradient any more, although an optimizer steps it"
    stale = next((fact.subject for fact in run.seen("stale")), "")
    if reading == OPERATION and stale and any(done.kind == "nonleaf_gradient" for done in run.performed):
        return f"the value computed once from {stale} would stay the same after every step"
    if lost:
        names = list(dict.fromkeys(lost))
        more = f" and {names[1] if len(names) == 2 else f'{len(names) - 1} more parameters'}" * (len(names) > 1)  # noqa: PLR2004
        return f"{names[0]}{more}, which an optimizer owns, would get no gradient"
    return ""


def _seen(reading: Refused, run: wire.Trace, other: wire.Trace) -> Iterator[str]:
    """What facts of both runs say against a reading of a write, or of a flag."""
    if reading == OPERATION:
        yield from (f"what is trained is computed from this very {one.subject}" for one in run.seen("flag-holds"))
        yield from (
            f"later iterations would use {one.subject} as it was before" for one in run.seen("write-outlives-pass")
        )
        along = "would be trained through update steps that use its own gradient"
        yield from (f"{one.subject} {along}" for one in other.seen("steps-by-hand"))
    elif other.outcome != "failed":
        counted = "the number of this loss is multiplied by how many values it has, as one does with a mean"
        yield from (counted for _ in other.seen("counted"))
        yield from (
            "the script itself takes the mean of this loss, beside its backward" for _ in other.seen("averaged")
        )
        term = "a term of the loss that is made of {} would train nothing: it is added onto a number of this very pass"
        yield from (term.format(one.subject) for one in run.seen("added-to-number"))
        copied = "a function writes to what it has converted: of another type or device, {} would stay as it is"
        used = any(done.used for done in other.performed if done.kind in _WRITES)
        yield from (copied.format(one.subject) for one in run.seen("written-as-copy") if used)
        lost = other.seen("flag-is-lost")
        yield from (
            f"the module computes its {one.subject} again, and requires_grad would have no effect" for one in lost
        )
        learns = other.seen("learns-by-write")
        yield from (f"{one.subject}, which an optimizer owns, would learn nothing from data" for one in learns)
        kept = {one.stack for one in other.seen("wasted")}
        given = (one for one in run.seen("wasted") if one.stack not in kept)
        yield from ("a derivative would get a graph that no backward uses" for _ in given)
        drifts = () if other.carried else run.seen("drifts")
        yield from (f"each iteration would move {one.subject}, which an optimizer owns, farther" for one in drifts)
