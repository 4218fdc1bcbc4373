"""Reads a trace: the cause of the failure and the lines of the user's code that explain it."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Cause, Diagnosis
from autofix.diagnosis.culprits import culprits
from autofix.diagnosis.keeping import rebound
from autofix.probe import wire
from autofix.syntax.sources import Sources

_LEAFLESS = (Cause.NONLEAF_GRADIENT, Cause.UNUSED_INPUT, Cause.NO_GRAPH)


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
    declined = "" if cause is not Cause.OTHER else "the trace does not show what autograd refused"
    explained = trace.failure if trace.failure is not None else failure
    return Diagnosis(cause, _merged(failure, explained), culprits(cause, failure, trace, sources), trace, declined)


def _merged(failure: wire.Failure, explained: wire.Failure) -> wire.Failure:
    """The words of the plain run with the facts of the tracing run."""
    return replace(failure, stack=failure.stack or explained.stack, kind=explained.kind, function=explained.function)
