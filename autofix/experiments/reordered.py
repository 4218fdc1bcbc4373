"""A run whose optimizers were given the same parameters in another form, told in the form of another run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autofix.experiments.sketches import norm
from autofix.probe import wire

_GONE = -1
"""The place of what the other run does not give to the optimizer."""


def in_order(reference: wire.Trace, candidate: wire.Trace) -> wire.Trace:
    """The candidate's run with the parameters of each optimizer in the order in which the reference's has them.

    To a program it is all one in which order an optimizer of one group is given its parameters, and whether it is given
    what gets no gradient until the program ends, and is written by nothing, or held as a buffer and written there.
    """
    made = range(min(len(reference.counts), len(candidate.counts)))
    orders = {index: order for index in made if (order := _order(reference, candidate, index))}
    if not orders:
        return candidate
    names = tuple(reference.names[index] if index in orders else owned for index, owned in enumerate(candidate.names))
    finals, wanted = _finals(candidate), _finals(reference)
    buffers = {
        reference.names[index][place]: f"{index} {place}"
        for index, order in orders.items() for place, at in enumerate(order)
        if at == _GONE and not _is_still(reference, index, place)
    }  # fmt: skip
    ends = {buffers[state.name]: state.last for state in candidate.states if state.name in buffers}
    for index, order in orders.items() if finals else ():  # else some optimizer owns others by now
        rest = wanted[index] if wanted else [()] * len(order)
        finals[index] = [
            finals[index][at] if at != _GONE else ends.get(f"{index} {place}", rest[place])
            for place, at in enumerate(order)
        ]
    seen, courses = {one.name: one.after for one in reference.courses}, []
    for one in candidate.courses:
        if key := buffers.get(one.name):  # a step looks at what it is given, and so sooner than the next forward does
            courses.append(replace(one, name=key, after=seen[key][: len(one.after)] + one.after[len(seen[key]) :]))
            continue
        owner, _, place = one.name.partition(" ")
        order = orders.get(int(owner), ()) if place and owner.isdecimal() else ()
        if not order or int(place) in order:
            courses.append(replace(one, name=f"{owner} {order.index(int(place))}") if order else one)
    return replace(
        candidate,
        steps=tuple(_reordered(step, orders.get(step.optimizer, ())) for step in candidate.steps),
        names=names,
        finals=tuple(one for group in finals for one in group) or candidate.finals,
        courses=tuple(courses),
    )


def _order(reference: wire.Trace, candidate: wire.Trace, index: int) -> tuple[int, ...]:
    """Where the candidate's optimizer has each parameter of the reference's; () where not the same, or in place."""
    wanted, got = reference.names[index], candidate.names[index]
    if wanted == got or any("], [" in step.settings for trace in (reference, candidate) for step in trace.of(index)):
        return ()  # of several groups each treats its parameters in its own way
    if len(wanted) != len(got):
        return _without_idle(reference, candidate, index)
    if set(wanted) == set(got) and len(set(wanted)) == len(wanted):
        return tuple(map(got.index, wanted))
    # Where an edit gives names, too: by where they start, if no two start alike.
    mine, theirs = (_starts(trace, index) for trace in (reference, candidate))
    same = set(mine) == set(theirs) and len(set(mine)) == len(mine) == len(wanted) and mine != theirs
    return tuple(map(theirs.index, mine)) if same else ()


def _starts(trace: wire.Trace, index: int) -> list[tuple[float, ...]]:
    """What each parameter of an optimizer held before the first step, as far as that was seen."""
    known = {one.name: one.values[0] for one in trace.courses if one.after[:1] == (0,)}
    keys = (f"{index} {place}" for place in range(len(trace.names[index])))
    return [known[key] for key in keys if key in known]


def _without_idle(reference: wire.Trace, candidate: wire.Trace, index: int) -> tuple[int, ...]:
    """The order where one of the two optimizers is given what gets nothing, and the other is not."""
    if not reference.outcome == candidate.outcome == "finished":
        return ()
    wanted, got = reference.names[index], candidate.names[index]
    without = wanted if len(wanted) < len(got) else got
    more = {name for name in (*wanted, *got) if name not in without}
    buffers = more & {one.name for one in candidate.courses} & {state.name for state in candidate.states}
    places = [
        [
            place
            for place, name in enumerate(names)
            if not (name in more and _is_idle(trace, index, place, written=name in buffers))
        ]
        for trace, names in ((reference, wanted), (candidate, got))
    ]
    if len(places[0]) != len(places[1]):
        return ()
    where = dict(zip(*places, strict=True))
    return tuple(where.get(place, _GONE) for place in range(len(wanted)))


def _is_idle(trace: wire.Trace, index: int, place: int, *, written: bool) -> bool:
    """Whether what an optimizer has at a place gets no gradient at any step, and nothing writes it but what may."""
    steps = trace.of(index)
    moved = (norm(values[place]) for step in steps for values in (step.gradients, step.changes) if place < len(values))
    return bool(steps) and (written or _is_still(trace, index, place)) and not any(moved)


def _is_still(trace: wire.Trace, index: int, place: int) -> bool:
    course = next((one for one in trace.courses if one.name == f"{index} {place}"), None)
    return course is None or (len(course.values) == 1 and not course.unused)


def _finals(trace: wire.Trace) -> list[Sequence[tuple[float, ...]]]:
    """Where the parameters of each optimizer end; nothing where what is owned has changed since."""
    sizes = [len(owned) for owned in trace.names[: len(trace.counts)]]
    if sum(sizes) != len(trace.finals):
        return []
    return [trace.finals[sum(sizes[:index]) : sum(sizes[: index + 1])] for index in range(len(sizes))]


def _reordered(step: wire.Step, order: tuple[int, ...]) -> wire.Step:
    gradients, changes = (
        tuple(values[at] if at != _GONE else () for at in order) if order and len(values) > max(order) else values
        for values in (step.gradients, step.changes)
    )
    return replace(step, gradients=gradients, changes=changes)
