"""Which readings of a refused operation the rest of the program allows.

torch refuses a write to a leaf because it can mean two things. As an *update* the values change and no gradient knows
of it; as an *operation* the write is part of the forward. Likewise a tensor whose gradient is asked for, but which is a
result, can be meant as a leaf of its own or as that result. Both are run as references. A reading that the rest of the
program contradicts is left out: one in which the script dies, one in which parameters that an optimizer owns lose the
gradient that they get in the other, an operation whose result no later backward uses, and an update where something
that an optimizer owns learns from data by the write alone, or that leaves the graph unused which a derivative is given.

Where a graph is missing, the one reading is that it was not cut, if there is only one place that cuts it. A loss that
is a number in this pass, and has a graph in another one, trains nothing in this.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autofix.core.model import Cause, Diagnosis, Reading, Refused
from autofix.experiments.compare import comparable, differences, failed_with, same_gradients, same_moves
from autofix.experiments.later import died_early
from autofix.experiments.losses import losses
from autofix.experiments.sketches import FOLLOWED, LIVE, norm
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
_WRITES = ("leaf_modified", "view_modified")
_ENTERS = (*_WRITES, "conversion")
"""What, as an operation, has to be used by a backward."""
_FLAGS = ("flag-is-lost", "flag-holds")
"""Whether a flag that a script sets on what a module computes would come to nothing as one of that tensor."""
_LOST = "no_graph"
_GUESSED = ("nonleaf_gradient", _LOST)
_THROUGH = ("numpy", "item")
"""How values leave torch whose graph can be followed through numpy and back."""
_MOST_PLACES = 4
"""Places that may each have lost a graph, beyond which nobody tries which of them did."""
LEAST = 3
"""Steps without any gradient from which on they are no accident of where a run begins or ends."""
_FROZEN = ("frozen", "born")
"""What may be meant to have no graph, beside another place that lost one."""
_ACTIONS = dict.fromkeys(("detach", "data", "item", "rebuilt", "copied", "copied_along"), "keep") | {
    "no_grad": "grad", "derivative": "create", "plain": "require", "born": "require", "frozen": "unfreeze",
}  # fmt: skip
"""What a reference does where a graph was lost, by the one way in which it was."""


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
        if not (any(deprived(update, operation())) or _weighs(update, operation())):
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
    return idle if moved and len(moved.whole_steps) > 1 and losses(moved) == losses(run) else ()


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


def sites(diagnosis: Diagnosis) -> tuple[tuple[wire.Site, ...], ...]:
    """The places at which a reference run makes a tensor a leaf, keeps a graph or asks for a gradient.

    Where several places lost a graph, each of them by itself, and all together: what the runs then do decides.
    """
    origins = [o for o in diagnosis.trace.origins if o.stack]
    if not origins:
        return ()
    if found := _only(diagnosis, origins):
        return (found,)
    if diagnosis.cause is Cause.UNUSED_INPUT:
        return _unused(origins, refused=diagnosis.failure.in_backward)
    return _lost(origins) if diagnosis.cause is Cause.NO_GRAPH else ()


_NO_CONSTANTS = {
    "term-is-array": "a term of the loss is a plain number, which trains nothing",
    "derivative-is-array": "a derivative in the loss is a plain number, which trains nothing",
}
"""What shows in the reference that an array is no constant, and what the other meaning would then come to."""
_UNWATCHED = "unwatched"
_TREATED = {
    Cause.NONLEAF_GRADIENT: ("leaf", "nonleaf"), Cause.UNUSED_INPUT: ("require", "made"),
    Cause.GRADIENT_NONE: ("zero", "empty"), Cause.COMPLEX_LOSS: ("magnitude", "squared"),
}  # fmt: skip
"""What a reference does at a place, and by which kind of origin the place is known."""


def _only(diagnosis: Diagnosis, origins: list[wire.Origin]) -> tuple[wire.Site, ...]:
    if rebound := [o.stack[0] for o in origins if o.kind == "rebound"]:
        return tuple(wire.Site("update", frame) for frame in dict.fromkeys(rebound))
    refused = diagnosis.cause is Cause.NONLEAF_GRADIENT and diagnosis.failure.function
    if diagnosis.cause in _TREATED and not refused:
        action, kind = _TREATED[diagnosis.cause]
        return tuple(dict.fromkeys(wire.Site(action, o.stack[0], o.node) for o in origins if o.kind == kind))
    if diagnosis.cause is Cause.NO_GRAPH and all(o.kind == "constant" for o in origins):
        return tuple(dict.fromkeys(wire.Site("constant", o.stack[0]) for o in origins))
    inside = [o.stack[0] for o in origins if o.kind == "inside"]
    if inside and diagnosis.cause is Cause.NO_GRAPH:
        return (wire.Site("inside", inside[0]),)
    if diagnosis.cause is Cause.GRADIENT_MISSHAPEN:
        return tuple(wire.Site("sum", o.stack[0], o.node.partition(" ")[0]) for o in origins if o.kind == "misshapen")
    if diagnosis.cause is Cause.HOOK_REFUSED and all(o.kind == "frozen" for o in origins):
        return tuple(dict.fromkeys(wire.Site(_UNWATCHED, o.stack[0]) for o in origins))
    left = [o for o in origins if o.kind in _THROUGH]
    if diagnosis.cause is Cause.NO_GRAPH and left and not any(o.kind in _FROZEN for o in origins):
        return (_followed(left),)
    return ()


def _followed(left: list[wire.Origin]) -> wire.Site:
    """Values that leave torch are followed wherever they do; this is the first place."""
    return wire.Site("follow", left[0].stack[0])


def _unused(origins: list[wire.Origin], *, refused: bool) -> tuple[tuple[wire.Site, ...], ...]:
    """Where the graph was lost by which an output is made of an input; zeros for what is unused among others.

    Where a derivative gives something, too, its letter is what it gives: with a graph in between that would be another.
    A call that torch refused needs no place: zeros are how it is performed.
    """
    lost = [one for one in origins if one.kind in _ACTIONS]
    some = [wire.Site("zeros", one.stack[0]) for one in origins if one.kind == "none_among"]
    if some:
        return () if refused else (tuple(some),)
    return _lost(lost) if lost else ()


def _lost(origins: list[wire.Origin]) -> tuple[tuple[wire.Site, ...], ...]:
    """What is frozen may stay so where something else lost the graph, too: it shows if an optimizer owns it.

    What was switched off when it was used, and is on again, is something else: it is meant to train by now. All of that
    is a choice, and all but one place of it.
    """
    if left := [o for o in origins if o.kind in _THROUGH]:
        kept = tuple(dict.fromkeys(_site(o) for o in origins if o.kind in _FROZEN))
        return kept, (_followed(left),), (*kept, _followed(left))
    asleep = tuple(dict.fromkeys(wire.Site("record", o.stack[0]) for o in origins if o.used))
    known = {site.frame for site in asleep}
    found = (_site(o) for o in origins if o.stack[0] not in known)
    sites = tuple(dict.fromkeys((*asleep, *found)))
    frozen = tuple(site for site in sites if site.action == "unfreeze")
    others = [site for site in sites if site not in frozen]
    if len({site.action for site in others}) > 1 or any(not one.action for one in others) or len(sites) > _MOST_PLACES:
        return ()
    if {site.action for site in sites} == {"require"}:  # all that an optimizer owns learns
        return (sites,)
    alone = itertools.combinations(others, max(1, len(asleep) - 1))
    each = [*alone, asleep, *([frozen] if others and frozen else ((one,) for one in frozen))]
    return tuple(one for one in dict.fromkeys((*each, sites)) if one)


def _site(origin: wire.Origin) -> wire.Site:
    """What a reference does where a graph was lost; of what only had to ask for a gradient, with its kind."""
    action = _ACTIONS.get(origin.kind, "")
    return wire.Site(action, origin.stack[0], origin.kind if action == "require" else origin.node)


def chosen(choices: Sequence[tuple[wire.Site, ...]], runs: Sequence[wire.Trace]) -> tuple[wire.Site, ...]:
    """The one choice of places with which everything that optimizers own is trained; () where none is the only one.

    The last has all places. What it adds must train nothing else: then only the one place was to have a graph. To what
    was switched off for a while only more of that is added: what is off when the failing call is made is meant to be.
    All places are the choice where each of them, left out, leaves something owned that does not learn.
    """
    found = dict(zip(choices, runs, strict=True))
    if any(site.action == _UNWATCHED for site in choices[-1]) and not any(one.sums for one in runs[-1].hooks):
        return ()  # what is never watched is not switched off for a while
    if _alike(found, choices[-1]) or _each_is_needed(found, choices[-1]):
        return choices[-1]
    asleep = max(filter(_records, choices), key=len, default=())
    idle = {*orphans(found[choices[-1]])}  # whatever is chosen: what they are for is asked of the one that is
    good = [
        one for one, run in found.items()
        if (one == asleep or one != choices[-1]) and not comparable(run) and not contradiction(UPDATE, run, run, idle)
    ]  # fmt: skip
    if len(good) > 1 and asleep in good:
        good.remove(asleep)
    if len(good) > 1 and not any(differences(found[one], found[choices[-1]], LIVE) for one in good):
        return choices[-1]  # whichever is meant, the same is trained
    if len(good) != 1:
        return ()
    most = found[asleep if _records(good[0]) else choices[-1]]
    return () if comparable(most) or differences(found[good[0]], most, LIVE) else good[0]


def _alike(found: Mapping[tuple[wire.Site, ...], wire.Trace], whole: tuple[wire.Site, ...]) -> bool:
    """Whether the derivatives are all of one forward: whichever has a graph, the others are meant to have one, too.

    One that only weighs what is made of another is a constant, as everybody knows.
    """
    if len(whole) == 1 or any(site.action != "create" for site in whole):
        return False
    frames = {site.frame for site in whole}
    rest = (frames - {site.frame for site in one} - _plain(run) for one, run in found.items())
    return not any(rest) and not comparable(found[whole]) and not contradiction(UPDATE, found[whole], found[whole])


def _each_is_needed(found: Mapping[tuple[wire.Site, ...], wire.Trace], whole: tuple[wire.Site, ...]) -> bool:
    """Whether what optimizers own is all trained with all places alone, none of which may be meant to stay as it is.

    So it is where they are calls of one function, which is decorated: that is one place.
    """
    if len(whole) == 1 or any(site.action not in ("keep", "create", "grad") for site in whole):
        return False
    run, idle = found[whole], {*orphans(found[whole])}
    rest = [found.get(tuple(other for other in whole if other != site)) for site in whole]
    starved = all(one is not None and (one.outcome == "failed" or {*orphans(one)} - idle) for one in rest)
    starved = starved or (len({site.node for site in whole}) == 1 and bool(whole[0].node))
    # Of two that are held against each other one may be a target, whoever owns what it is made of.
    return starved and not run.seen("holds-two") and not comparable(run) and not contradiction(UPDATE, run, run, idle)


def _plain(run: wire.Trace) -> set[wire.Frame]:
    places = (fact.stack[0] for fact in run.seen("slope-without-graph"))
    return set(places) - {fact.stack[0] for fact in run.seen("derivative-is-plain")}


def _records(sites: tuple[wire.Site, ...]) -> bool:
    return all(site.action == "record" for site in sites)


def standing(diagnosis: Diagnosis) -> tuple[wire.Site, ...]:
    """The places at which leaves that are written may stand for results, so that what these are made of learns."""
    written = (o.stack[0] for o in diagnosis.trace.origins if o.kind == "written")
    return tuple(wire.Site("stand", frame) for frame in dict.fromkeys(written))


def uncut(diagnosis: Diagnosis) -> tuple[tuple[wire.Site, ...], ...]:
    """The choices of places at which the graph is kept by which a gradient would come that is None."""
    lost = [one for one in diagnosis.trace.origins if one.kind in _ACTIONS and one.stack]
    return _lost(lost) if lost and diagnosis.cause is Cause.GRADIENT_NONE else ()


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
    stepped = [gradients for index in range(len(run.counts)) for gradients in _gradients(run, index)]
    trained = any(norm(gradient) > 0 for gradients in stepped for gradient in gradients)
    return converts and (run.outcome == "failed" or (bool(stepped) and not trained))


def _enters_a_loss(run: wire.Trace, nudged: Callable[[], wire.Trace]) -> bool:
    """Whether a loss may depend on an array that torch refused to make."""
    if run.outcome == "failed" or not any(done.kind == "conversion" for done in run.performed):
        return False
    other = nudged()
    return bool(comparable(other)) or losses(other) != losses(run)


def words(run: wire.Trace) -> dict[Refused, str]:
    """The readings of what a reference run performed, as clauses."""
    kinds = {done.kind for done in run.performed}
    if "conversion" in kinds:
        return ARRAY_WORDS
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
    if forsaken := next(_forsaken(run), ""):
        return f"{forsaken}, from which it is computed, would get no gradient any more, although an optimizer steps it"
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


def _forsaken(run: wire.Trace) -> Iterator[str]:
    """What a new leaf was made of and an optimizer still holds, whose steps used its gradient before and none since."""
    for index in range(len(run.counts)):
        steps = _gradients(run, index)
        for place, name in enumerate(run.parameters(index)):
            if name in run.left_out and _ever(steps, place) and not _ever(steps[-LEAST:], place):
                yield name


def deprived(run: wire.Trace, other: wire.Trace, *, zeros: bool = False) -> Iterator[str]:
    """The parameters without gradient at every later step of one run that do get some in the other.

    At the last ones will do, where in the other they have it at each of them. `zeros`: a gradient of zeros is one, for
    a weight in front of what it belongs to may have become 0.
    """
    sent = _sent if zeros else _ever
    for index in range(len(other.counts)):
        mine, theirs = _gradients(run, index), _gradients(other, index)
        last = theirs[-LEAST:] if min(len(mine), len(theirs)) > LEAST else []
        for place, name in enumerate(run.parameters(index)):
            always = bool(last) and all(_ever([step], place) for step in last)
            if (not sent(mine, place) and _ever(theirs, place)) or (always and not sent(mine[-LEAST:], place)):
                yield name


def orphans(run: wire.Trace) -> Iterator[str]:
    """The parameters of optimizers that step, but never with a gradient for them.

    Not the bias of a layer whose weight has one: no graph is missing there, the loss is made of derivatives.
    """
    for index in range(len(run.counts)):
        yield from _orphans_of(run, index)


def all_learn(run: wire.Trace, before: Sequence[int]) -> bool:
    """Whether all learns that optimizers own which have stepped more often than in a shorter run."""
    later = [i for i, count in enumerate(run.counts) if count > (before[i] if i < len(before) else 0)]
    return not any(next(_orphans_of(run, index), "") for index in later)


def _orphans_of(run: wire.Trace, index: int) -> Iterator[str]:
    steps, names = _gradients(run, index), run.parameters(index)
    learn = {name for place, name in enumerate(names) if _ever(steps, place)}
    for name in names if steps else ():
        layer, _, own = name.rpartition(".")
        if name not in learn and not (own == "bias" and f"{layer}.weight" in learn):
            yield name


def idles(run: wire.Trace) -> bool:
    """Whether an optimizer steps, and never with a gradient for anything."""
    each = (_gradients(run, index) for index in range(len(run.counts)))
    return any(len(steps) >= LEAST and not any(norm(one) > 0 for step in steps for one in step) for steps in each)


def learns(run: wire.Trace, name: str) -> bool:
    """Whether a parameter has a gradient at several later steps of some optimizer."""
    places = (
        (index, place) for index in range(len(run.counts)) for place, n in enumerate(run.parameters(index)) if n == name
    )
    return any(sum(_ever([step], place) for step in _gradients(run, index)) >= LEAST for index, place in places)


def _gradients(run: wire.Trace, index: int) -> list[tuple[tuple[float, ...], ...]]:
    """What the steps of an optimizer used, without the first, which may come before what is in question."""
    found = [step.gradients for step in run.of(index)]
    return found[1:] or found


def _sent(steps: list[tuple[tuple[float, ...], ...]], place: int) -> bool:
    return any(gradients[place] for gradients in steps if place < len(gradients))


def _ever(steps: list[tuple[tuple[float, ...], ...]], place: int) -> bool:
    return any(norm(gradients[place]) > 0 for gradients in steps if place < len(gradients))
