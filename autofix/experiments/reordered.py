"""A run whose optimizers were given the same parameters in another order, told in the order of another run."""

from __future__ import annotations

from dataclasses import replace

from autofix.probe import wire


def in_order(reference: wire.Trace, candidate: wire.Trace) -> wire.Trace:
    """The candidate's run with the parameters of each optimizer in the order in which the reference's has them.

    To a program it is all one in which order an optimizer of one group is given its parameters.
    """
    made = range(min(len(reference.counts), len(candidate.counts)))
    orders = {index: order for index in made if (order := _order(reference, candidate, index))}
    if not orders:
        return candidate
    names, finals = list(candidate.names), list(candidate.finals)
    for index, order in orders.items():
        start = sum(map(len, names[:index]))
        names[index] = reference.names[index]
        if len(finals) == sum(map(len, names[: len(candidate.counts)])):  # else some optimizer owns others by now
            finals[start : start + len(order)] = [candidate.finals[start + place] for place in order]
    courses = []
    for one in candidate.courses:
        owner, _, place = one.name.partition(" ")
        order = orders.get(int(owner), ()) if place and owner.isdecimal() else ()
        courses.append(replace(one, name=f"{owner} {order.index(int(place))}") if order else one)
    steps = [_reordered(step, orders.get(step.optimizer, ())) for step in candidate.steps]
    return replace(candidate, steps=tuple(steps), names=tuple(names), finals=tuple(finals), courses=tuple(courses))


def _order(reference: wire.Trace, candidate: wire.Trace, index: int) -> tuple[int, ...]:
    """Where the candidate's optimizer has each parameter of the reference's; () where not the same, or in place."""
    wanted, got = reference.names[index], candidate.names[index]
    if wanted == got or set(wanted) != set(got) or len(set(wanted)) != len(wanted) or len(wanted) != len(got):
        return ()
    if any("], [" in step.settings for trace in (reference, candidate) for step in trace.of(index)):
        return ()  # of several groups each treats its parameters in its own way
    return tuple(map(got.index, wanted))


def _reordered(step: wire.Step, order: tuple[int, ...]) -> wire.Step:
    gradients, changes = (
        tuple(values[place] for place in order) if len(values) == len(order) else values
        for values in (step.gradients, step.changes)
    )
    return replace(step, gradients=gradients, changes=changes)
