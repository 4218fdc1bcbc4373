"""A loss trains what steps on it

## What it says

The code as written breaks it in five cases, and only these:

- A loss of one network is affine in what another network gives, and that other network has a loss of its own that is
  not. The first has no minimum there, so it is no loss of the other network: an actor's use of a critic's value. It is
  seen by the gradients that both losses send to what the network gives: those of the first stay the same when that is
  moved by two sizes, in a random direction, and those of the second do not. Nothing that another optimizer owns may
  have gone into what it gives: of a critic through which an encoder or a generator learns, nothing is said.
- A step uses what another loss left behind, and that loss and the optimizer's own pull what another network gives
  apart, everywhere in it and wherever it is moved: a generator that descends the loss of its critic, too. All that the
  other loss sends to the step comes by results that are pulled apart.
- So it is without a step between them, where the critic learns nothing of the generator's loss, as that gradient is
  thrown away, and its own loss also holds what it makes of data.
- A step uses what another loss left behind, and all of that comes by terms which its own loss has with the other sign:
  the loss of a multiplier rises with the constraint that the loss of the network is to keep. Both losses are linear in
  these terms and use each of them once: the one only takes back what the other asks for, whatever the values are.
- A loss uses by how much something has changed from before another optimizer's step to after it, and both sides have a
  graph: a teacher's loss is weighed by what its labels were worth to a student. Where parameters rest, both sides are
  the same in each pass, and nothing is left for that optimizer: what it is sent else is the work of its own step. The
  difference measures that step, and is a constant.

The reading that keeps the law is the letter without these gradients.

## Where it is silent

Elsewhere: an encoder with a loss of its own and a classifier behind it has exactly the same shape, and its cut would be
wrong. So are networks with shared parameters, and functions that are no modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autofix.core.model import Reading, Treatment
from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import FROZEN, LIVE, close, norm
from autofix.probe import wire
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import KEPT, PASSES, SILENT, Law, Ruling, Runs, Word, at
from autofix.verdict.shared.players import facts_of, kept_out, of_data

_OTHER = 1e-2
"""Relative distance from which on two gradients are others."""


class ALossTrainsWhatStepsOnIt(Law):
    clause = "each optimizer steps on its own loss alone"

    def readings(self, runs: Runs) -> Iterator[Reading]:
        for kept in filter(None, (_affine(runs), _played_against(runs))):
            yield replace(runs.code, apart=kept)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        found = []
        if affine := _affine(runs):
            owners = ", ".join(runs.letter.owner(one.optimizer) for one in affine)
            sentence = (
                f"the loss at {at(affine[0].stack)} also trains {owners}. It is affine in the output of {owners}, "
                f"so that it has no minimum there; another loss of {owners} is not affine"
            )
            found.append(KEPT if set(affine) <= set(reading.apart) else Ruling(Word.BROKEN, sentence))
        if opposed := _opposed(runs):
            sentence = (
                f"a step also uses the gradient that the loss at {at(opposed.first)} left. It pulls the output of "
                f"{runs.letter.owner(opposed.optimizer)} the opposite way of its own loss at {at(opposed.second)}"
            )
            found.append(KEPT if reading.separated else Ruling(Word.BROKEN, sentence))
        elif taken := _taken_back(runs):
            sentence = (
                f"a step also uses the gradient that the loss at {at(taken)} left, on which another optimizer steps. "
                "It has a term of the step's own loss with the opposite sign, and so takes back what that loss asks for"
            )
            found.append(KEPT if reading.separated else Ruling(Word.BROKEN, sentence))
        if played := _played_against(runs):
            who = runs.letter.owner(played[0].optimizer)
            sentence = (
                f"the loss at {at(played[0].stack)} also trains {who}. It pulls what another network makes of its "
                f"output the opposite way of another loss of {who}, from which that network learns nothing"
            )
            found.append(KEPT if set(played) <= set(reading.apart) else Ruling(Word.BROKEN, sentence))
        if measured := _measured(runs):
            sentence = (
                f"{at(measured)} compares a value from before an optimizer's step with the same value after it, and a "
                "step also uses the gradient of the difference. That gradient is 0 unless parameters move in between"
            )
            found.append(KEPT if reading.separated or reading.measured else Ruling(Word.BROKEN, sentence))
        return next((one for one in found if one.word is Word.BROKEN), KEPT if found else SILENT)


def _affine(runs: Runs) -> tuple[wire.KeptOut, ...]:
    """The losses that are affine in what another optimizer's network gives, each with that optimizer."""
    doubted, left = ({fact.stack for fact in runs.letter.seen(name)} for name in ("mixed", "cross-talk"))
    if not doubted or doubted & left or comparable(runs.outputs):
        return ()
    given: dict[tuple[int, wire.Stack], list[wire.Arrivals]] = {}
    for one in runs.outputs.arrivals:
        given.setdefault((one.optimizer, one.stack), []).append(one)
    found = []
    for (optimizer, stack), ones in given.items():
        own = [others for (owner, other), others in given.items() if owner == optimizer and other not in doubted]
        if not (stack in doubted and all(one.first for one in ones) and own):
            continue
        if all(_is_affine(runs, one) for one in ones) and all(
            any(_bends(runs, one) for one in others) for others in own
        ):
            found.append(wire.KeptOut(stack, optimizer))
    # Of losses in doubt that have a minimum in what they reach, nothing is known.
    return tuple(found) if {one.stack for one in found} == doubted else ()


def _is_affine(runs: Runs, one: wire.Arrivals) -> bool:
    """Whether the same gradients come, whatever the network gives."""
    seen = [value for value in one.values if norm(value)]
    return len(seen) >= PASSES and all(
        len(other) == len(one.values) and all(close(a, b, LIVE) for a, b in zip(one.values, other, strict=True))
        for other in _moved(runs, one)
    )


def _bends(runs: Runs, one: wire.Arrivals) -> bool:
    """Whether other gradients come, every time, where the network gives something else."""
    return len(one.values) >= PASSES and all(
        len(other) == len(one.values) and not any(close(a, b, _OTHER) for a, b in zip(one.values, other, strict=True))
        for other in _moved(runs, one)
    )


def _moved(runs: Runs, one: wire.Arrivals) -> list[tuple[tuple[float, ...], ...]]:
    """What came to the same place where the network gives something else; nothing where a run went another way."""
    return [
        next((other.values for other in run.arrivals if replace(other, values=one.values) == one), ())
        for run in runs.shifted(one.optimizer)
    ]


def _measured(runs: Runs) -> wire.Stack:
    """The one difference, between the same before a step and after it, by which all comes that other steps are left."""
    apart = replace(runs.code, separated=True)
    if not runs.letter.seen("cross-talk") or comparable(runs.of(apart)):
        return ()
    rest = runs.of(apart, Treatment.FROZEN)
    if any(map(comparable, (runs.letter_frozen, rest))) or differences(runs.letter_frozen, rest, FROZEN):
        return ()
    still, moving = runs.comparisons_at_rest, runs.comparisons_moving
    if comparable(still) or comparable(moving):
        return ()
    moved = {one.stack for one in moving.compared if one.other >= PASSES and not one.same}
    places = {one.stack[:1] for one in still.compared if one.stack in moved and one.same >= PASSES and not one.other}
    if len(places) != 1:
        return ()
    place = places.pop()
    constant = runs.of(replace(runs.code, measured=place))
    return () if comparable(constant) or differences(constant, runs.of(apart), LIVE) else place


def _opposed(runs: Runs) -> wire.Opposed | None:
    """Two losses that pull apart, if each loss that leaves gradient for another's step is one of such two."""
    left = {fact.stack: fact.subject for fact in runs.letter.seen("cross-talk")}
    if not left or comparable(runs.outputs):
        return None
    reached = {reach.stack: reach.parameters for reach in runs.letter.reaches}
    found = [
        one
        for one in runs.outputs.opposed
        if one.first in left
        and one.second not in left
        and left[one.first] in reached.get(one.second, ())
        and left[one.first] not in runs.letter.names[one.optimizer]
        and _is_opposed(runs, one, one.first)
    ]
    return found[0] if {one.first for one in found} == left.keys() else None


def _played_against(runs: Runs) -> tuple[wire.KeptOut, ...]:
    """The loss of a network that another one also learns from, whose own loss is played against it; () if none is."""
    kept = kept_out(runs)
    if len(kept) != 1 or len(facts_of(runs)) > 1 or runs.letter.seen("cross-talk"):
        return ()
    if comparable(runs.outputs):
        return ()
    out = kept[0]
    pairs = [one for one in runs.outputs.opposed if out.stack in (one.first, one.second)]
    return kept if any(one.optimizer != out.optimizer and _is_game(runs, one, out) for one in pairs) else ()


def _is_game(runs: Runs, one: wire.Opposed, out: wire.KeptOut) -> bool:
    """Whether the loss of two that holds what a network makes of data is all that this network learns from."""
    other, data = one.second if one.first == out.stack else one.first, of_data(runs, one.optimizer)
    reached = {name for reach in runs.letter.reaches if reach.stack == other for name in reach.parameters}
    if out.stack not in data or other in data or reached.isdisjoint(runs.letter.names[out.optimizer]):
        return False
    alone = replace(runs.code, apart=(wire.KeptOut(other, one.optimizer),))
    return _is_opposed(runs, one, out.stack) and trains_alike(runs, alone, runs.code)


def _is_opposed(runs: Runs, one: wire.Opposed, loss: wire.Stack) -> bool:
    """Whether two losses always pull apart, and one of them goes to what others own only where both do."""
    sent = [other.losses for other in runs.outputs.through if other.optimizer == one.optimizer and loss in other.losses]
    meet = all({one.first, one.second} <= {*losses} for losses in sent)
    if one.times < PASSES or one.alone[loss == one.second] or not meet:
        return False
    return not any(_against(run, one) for run in (runs.outputs, *runs.shifted(one.optimizer)))


def _taken_back(runs: Runs) -> wire.Stack:
    """The loss whose gradient is left by a term that the step's own loss has with the other sign; () if others are."""
    left = runs.letter.seen("cross-talk")
    if not left or comparable(runs.outputs):
        return ()
    taken = [(fact.stack, runs.letter.parameters(int(fact.subject))) for fact in runs.outputs.seen("taken-back")]
    explained = all(any(one.stack == stack and one.subject in names for stack, names in taken) for one in left)
    return left[0].stack if explained else ()


def _against(run: wire.Trace, one: wire.Opposed) -> bool:
    """Whether these losses pull the same way anywhere, as two that have a minimum each do beyond both."""
    places = (one.optimizer, one.first, one.second)
    return any(other.against for other in run.opposed if (other.optimizer, other.first, other.second) == places)
