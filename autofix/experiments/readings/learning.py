"""What learns in a run: which parameters of optimizers get a gradient at their steps, and which are left without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autofix.experiments.sketches import norm
from autofix.probe import wire

LEAST = 3
"""Steps without any gradient from which on they are no accident of where a run begins or ends."""


def forsaken(run: wire.Trace) -> Iterator[str]:
    """What a new leaf was made of and an optimizer still holds, whose steps used its gradient before and none since."""
    for index in range(len(run.counts)):
        steps = gradients(run, index)
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
        mine, theirs = gradients(run, index), gradients(other, index)
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
    """Whether all learns that optimizers own which have stepped more often than in a shorter run.

    What stays frozen does not, but then the rest of what such an optimizer owns does.
    """
    later = [i for i, count in enumerate(run.counts) if count > (before[i] if i < len(before) else 0)]
    frozen = {fact.subject for fact in run.seen("stays-frozen")}
    idle = [set(_orphans_of(run, index)) for index in later]
    owned = [set(run.parameters(index)) for index in later]
    return all(names <= frozen and names < own for names, own in zip(idle, owned, strict=True))


def _orphans_of(run: wire.Trace, index: int) -> Iterator[str]:
    steps, names = gradients(run, index), run.parameters(index)
    learn = {name for place, name in enumerate(names) if _ever(steps, place)}
    for name in names if steps else ():
        layer, _, own = name.rpartition(".")
        if name not in learn and not (own == "bias" and f"{layer}.weight" in learn):
            yield name


def idles(run: wire.Trace) -> bool:
    """Whether an optimizer steps, and never with a gradient for anything."""
    each = (gradients(run, index) for index in range(len(run.counts)))
    return any(len(steps) >= LEAST and not any(norm(one) > 0 for step in steps for one in step) for steps in each)


def learns(run: wire.Trace, name: str) -> bool:
    """Whether a parameter has a gradient at several later steps of some optimizer."""
    places = (
        (index, place) for index in range(len(run.counts)) for place, n in enumerate(run.parameters(index)) if n == name
    )
    return any(sum(_ever([step], place) for step in gradients(run, index)) >= LEAST for index, place in places)


def gradients(run: wire.Trace, index: int) -> list[tuple[tuple[float, ...], ...]]:
    """What the steps of an optimizer used, without the first, which may come before what is in question."""
    found = [step.gradients for step in run.of(index)]
    return found[1:] or found


def _sent(steps: list[tuple[tuple[float, ...], ...]], place: int) -> bool:
    return any(gradients[place] for gradients in steps if place < len(gradients))


def _ever(steps: list[tuple[tuple[float, ...], ...]], place: int) -> bool:
    return any(norm(gradients[place]) > 0 for gradients in steps if place < len(gradients))
