"""What the script dies of besides: a run that dies there too, beyond the failure in question, counts as stopped there.

What is seen up to there is compared. Only the reference tells a failure of the script's own from one that an edit made:
a run that dies earlier, elsewhere or of something else has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autofix.probe import wire


def died_later(trace: wire.Trace) -> bool:
    """Whether a run was ended by another failure than the one in question, which the unedited script has, too."""
    return trace.outcome == "stopped" and trace.failure is not None


def beyond(trace: wire.Trace, baseline: wire.Trace) -> bool:
    """Whether a literal reference died beyond the failure of `baseline`, of something that is not autograd's."""
    failure = trace.failure
    if failure is None or failure.in_backward or failure.kind:
        return False
    return _place(trace) is not None and trace.backward_count >= baseline.backward_count


def alike(trace: wire.Trace, request: wire.Request, reference: wire.Trace | None) -> bool:
    """Whether a run of `request` died as the literal reference did, as far as that is known."""
    if reference is None or not died_later(reference):
        return False
    return (_place(trace, request), trace.counts) == (_place(reference), reference.counts)


def _place(trace: wire.Trace, edited: wire.Request | None = None) -> tuple[object, ...] | None:
    """What a run died of, and where in the files as they are on disk; None where no line of the user's says so."""
    if trace.failure is None or not trace.failure.stack:
        return None
    frame = trace.failure.stack[0]
    lines = edited.lines.get(frame.file) if edited is not None else None
    line = lines[frame.line - 1] if lines is not None and frame.line <= len(lines) else frame.line
    return trace.failure.type, frame.file, line
