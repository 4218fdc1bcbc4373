"""Reads a trace: the cause of the failure and the lines of the user's code that explain it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.keeping import built, handed_on, rebound, stored
from autofix.model import Cause, Culprit, Diagnosis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.probe import wire
    from autofix.rule import Sources

_MOST = 14
_CARRYING = (Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED)
_LEAFLESS = (Cause.NONLEAF_GRADIENT, Cause.UNUSED_INPUT, Cause.NO_GRAPH)
_ROLES = {"made": "made", "nonleaf": "made", "rebound": "made"}
_FRAMES = 3
"""How many of the user's frames a place is shown with, from the innermost outwards."""


def diagnose(baseline: wire.Trace, trace: wire.Trace, sources: Sources | None = None) -> Diagnosis | None:
    """The diagnosis of a failure that `baseline` showed and `trace` explains; None if it is none of autograd's.

    With `sources`, the lines that keep a graph for the next pass are named too.
    """
    failure = baseline.failure
    if failure is None:
        return None
    kind = trace.failure.kind if trace.failure is not None else ""
    cause = Cause(kind) if kind in set(Cause) else Cause.OTHER
    if cause is Cause.OTHER and not failure.in_backward:
        return None
    if sources is not None and cause in _LEAFLESS:
        trace = replace(trace, origins=tuple(rebound(trace.origins, sources)))
        if cause is Cause.UNUSED_INPUT and any(origin.kind == "rebound" for origin in trace.origins):
            cause = Cause.NONLEAF_GRADIENT
    culprits: dict[tuple[str, int, bool], Culprit] = {}
    kept = _kept(failure, trace, sources) if sources is not None and cause in _CARRYING else ()
    # A write on the line whose result it spoils is what explains the failure: `return x.tanh().add_(1)`.
    writes = {write.stack[0] for saved in trace.saved for write in saved.writes if write.stack}
    for culprit in (*_culprits(cause, failure, trace), *kept):
        apart = culprit.role == "written" and culprit.frame in writes
        culprits.setdefault((culprit.frame.file, culprit.frame.line, apart), culprit)
    declined = "" if cause is not Cause.OTHER else "the trace does not show what autograd refused"
    explained = trace.failure if trace.failure is not None else failure
    return Diagnosis(cause, _merged(failure, explained), tuple(culprits.values())[:_MOST], trace, declined)


def _merged(failure: wire.Failure, explained: wire.Failure) -> wire.Failure:
    """The words of the plain run with the facts of the tracing run."""
    return type(failure)(
        failure.type, failure.message, failure.stack or explained.stack, explained.kind, failure.in_backward,
        explained.function, explained.arguments, explained.notes,
    )  # fmt: skip


def _culprits(cause: Cause, failure: wire.Failure, trace: wire.Trace) -> Iterator[Culprit]:
    if failure.stack:
        yield Culprit("failed", failure.stack[0])
    if cause is Cause.FREED_GRAPH:
        yield from _freed(trace)
    elif cause is Cause.SAVED_TENSOR_MODIFIED:
        yield from _modified(trace)
    else:
        yield from _places("used", failure.stack[1:])
        for origin in trace.origins:
            yield from _places(_ROLES.get(origin.kind, "cut"), origin.stack, origin.name)


def _kept(failure: wire.Failure, trace: wire.Trace, sources: Sources) -> Iterator[Culprit]:
    """What was built to write in place, where a graph is kept, and where the pass ends that hands it on."""
    carriers = [carrier for crossing in trace.crossings if crossing.by == "failing" for carrier in crossing.carriers]
    for frame in built([write for saved in trace.saved for write in saved.writes if write.optimizer < 0], sources):
        yield Culprit("built", frame)
    for frame, path in stored(carriers, sources):
        yield Culprit("stored", frame, path)
    if failure.stack in {backward.stack for backward in trace.earlier[1:]} | {one.freed_by for one in trace.saved}:
        for frame, paths in handed_on(carriers, failure.stack, sources):
            yield Culprit("carried", frame, paths)


def _freed(trace: wire.Trace) -> Iterator[Culprit]:
    for saved in trace.saved[:1]:
        yield from _places("freed", saved.freed_by[:1])
    for crossing in trace.crossings:
        yield from _places("shared", crossing.made)
        yield from _places("used", crossing.used, f"by the {crossing.by} backward")
    for saved in trace.saved:
        yield from _places("shared", saved.made)


def _modified(trace: wire.Trace) -> Iterator[Culprit]:
    for saved in trace.saved:
        yield from _places("saved", saved.made)
        for write in saved.writes:
            yield from _places("stepped" if write.optimizer >= 0 else "written", write.stack, write.op)
    if any(write.optimizer >= 0 for saved in trace.saved for write in saved.writes):
        for crossing in trace.crossings:
            yield from _places("stale", crossing.used)


def _places(role: str, stack: wire.Stack, note: str = "") -> Iterator[Culprit]:
    for frame in stack[:_FRAMES]:
        yield Culprit(role, frame, note)
