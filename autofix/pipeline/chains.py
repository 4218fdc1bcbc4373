"""Which failing candidates are built upon: those that only uncovered the next failure, and in which turn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from autofix.core.model import MAY_BE_AUTOGRAD, Candidate, Cause, Diagnosis
from autofix.probe import wire


@dataclass(frozen=True, slots=True)
class Built:
    """What candidates are built upon: how the program fails with the edits made so far."""

    diagnosis: Diagnosis
    candidate: Candidate | None
    run: wire.Trace


def in_turn(found: list[tuple[Candidate, wire.Trace]]) -> list[tuple[Candidate, wire.Trace]]:
    """By rank, but one of each way of repair before a second of any: many alike must not crowd out what works."""
    turns: Counter[tuple[str, ...]] = Counter()
    placed: list[tuple[int, tuple[Candidate, wire.Trace]]] = []
    for pair in sorted(found, key=lambda pair: pair[0].rank):
        placed.append((turns[pair[0].rules], pair))
        turns[pair[0].rules] += 1
    return [pair for _, pair in sorted(placed, key=lambda one: one[0])]


def uncovers(candidate: Candidate, live: wire.Trace, before: wire.Trace) -> bool:
    """Whether another failure is something further, which the edit only uncovered; not of what the edit itself did.

    An edit is no step of a repair that calls what is not there, that leaves without a graph what had one, that cuts off
    what a derivative is by, or that gives a new tensor to the name of a parameter.
    """
    failure, cured = live.failure, before.failure
    if failure is None or cured is None:
        return False
    earlier = live.backward_count <= before.backward_count
    cut = any(word in edit.text for edit in candidate.edits for word in ("detach", "no_grad"))
    caused = (Cause.NO_GRAPH, Cause.PARAMETER_ASSIGNED, *([Cause.UNUSED_INPUT] if cut else []))
    if failure.kind in caused and cured.kind not in caused and earlier:
        return False
    return of_autograd(live)


def of_autograd(trace: wire.Trace) -> bool:
    """Whether what a run died of may be autograd's."""
    failure = trace.failure
    return failure is not None and (failure.in_backward or bool(failure.kind) or failure.type in MAY_BE_AUTOGRAD)
