"""What moves in a run, and by what: by steps, by hand, or by draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autofix.experiments.compare import first_departing
from autofix.experiments.sketches import norm
from autofix.probe import wire

_MOVED_BY = 3
"""Steps after which what started at zero, and what starts to move in consequence, is not zero any more."""


def keeps_up_others(trace: wire.Trace) -> bool:
    """Whether only what no optimizer owns is written by hand, as a teacher is that follows a student."""
    return written_by_hand(trace, owned=False) and not written_by_hand(trace, owned=True)


def written_by_hand(trace: wire.Trace, *, owned: bool) -> bool:
    """Whether something else than a step was seen to write what an optimizer owns, or what none does."""
    return any(True for _ in _courses_by_hand(trace, owned=owned))


def _courses_by_hand(trace: wire.Trace, *, owned: bool) -> Iterator[wire.Held]:
    """What something else than a step was seen to write, of what an optimizer owns or of what none does."""
    written = (one for one in trace.courses if len(one.values) > 1)
    return (one for one in written if one.name.split(" ")[0].isdecimal() is owned)


def departs_at_start(reference: wire.Trace, edited: wire.Trace) -> bool:
    """Whether an edit departs before it was first seen to have written by hand what an optimizer owns."""
    departing = first_departing(reference, edited)
    writes = (one.after[1] for one in _courses_by_hand(edited, owned=True))
    return departing is None or reference.steps.index(departing[0]) < min(writes, default=len(edited.steps))


def ends_a_round(full: wire.Trace, failed: int, wrote: set[int]) -> bool:
    """Whether a round ends with the latest step of one of these optimizers before a backward call, or behind it.

    It ends when every optimizer that steps has stepped once more.
    """
    made = {step.optimizer: 0 for step in full.steps}
    rounds, behind = 0, False
    for step in full.steps:
        if step.calls >= failed:
            break
        made[step.optimizer] += 1
        ends = min(made.values()) > rounds
        rounds += ends
        behind = ends or (behind and step.optimizer not in wrote)
    return behind


def trains_where_it_starves(reference: wire.Trace, edited: wire.Trace) -> bool:
    """Whether some step of a reference uses no gradient at all, and that of the edit does."""
    pairs = (pair for i in range(len(reference.counts)) for pair in zip(reference.of(i), edited.of(i), strict=False))
    return any(_any(have.gradients) and not _any(want.gradients) for want, have in pairs)


def moves_draws(reference: wire.Trace, edited: wire.Trace) -> bool:
    """Whether random numbers are drawn at a new place, and at an old one no more."""
    before, after = set(reference.drawn_at), set(edited.drawn_at)
    return bool(before - after) and bool(after - before)


def drops_otherwise(reference: wire.Trace, edited: wire.Trace) -> bool:
    """Whether dropouts drop something else of the same shape, where they draw by what they drop."""
    pairs = list(zip(reference.drops, edited.drops, strict=False))
    shapes = all(want.split("|")[0] == have.split("|")[0] for want, have in pairs)
    return shapes and any(want != have for want, have in pairs)


def moves(trace: wire.Trace) -> bool:
    """Whether steps move what has a gradient: what is to follow parameters shows only once these move."""
    # One evaluation of a closure has no change of its own.
    steps = trace.whole_steps
    return bool(steps) and all(_any(step.changes) or not _any(step.gradients) for step in steps)


def hides_nothing(trace: wire.Trace) -> bool:
    """Whether, at the last steps of each optimizer, all that ever has a gradient has one and is moved by it.

    What began at zero, and hid the gradients of others, is there no longer zero.
    """
    for index in range(len(trace.counts)):
        steps = [step for step in trace.whole_steps if step.optimizer == index]
        trained = {place for step in steps for place, one in enumerate(step.gradients) if one}
        last = [(step.gradients[place], step.changes[place]) for step in steps[-2:] for place in trained]
        if len(steps) < _MOVED_BY or not all(map(_both, last)):
            return False
    return True


def _both(pair: tuple[tuple[float, ...], tuple[float, ...]]) -> bool:
    return min(map(norm, pair)) > 0


def _any(sketches: Sequence[tuple[float, ...]]) -> bool:
    return any(norm(sketch) > 0 for sketch in sketches)
