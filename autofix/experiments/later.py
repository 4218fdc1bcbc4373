"""What the script dies of besides: a run that dies there too, beyond the failure in question, counts as stopped there.

What is seen up to there is compared. Only the reference tells a failure of the script's own from one that an edit made:
a run that dies earlier, elsewhere or of something else has failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofix.probe import wire


def died_later(trace: wire.Trace) -> bool:
    """Whether a run was ended by another failure than the one in question, which the unedited script has, too."""
    return trace.outcome == "stopped" and trace.failure is not None


def died_early(trace: wire.Trace) -> bool:
    """Whether it was ended by that before any step that could be compared."""
    return died_later(trace) and not trace.steps


def beyond(trace: wire.Trace, baseline: wire.Trace) -> bool:
    """Whether a literal reference died beyond the failure of `baseline`, of something that is not autograd's."""
    failure = trace.failure
    if failure is None or failure.in_backward or failure.kind:
        return False
    return _place(trace) is not None and trace.backward_count >= baseline.backward_count


def again(trace: wire.Trace, before: wire.Trace, lines: Mapping[str, Sequence[int]]) -> bool:
    """Whether a run failed where, and as, another did before an edit; `lines` map those of the edit to them."""
    failure, first = trace.failure, before.failure
    if failure is None or first is None:
        return False
    if (failure.message, trace.backward_count) != (first.message, before.backward_count):
        return False
    return _at_one_place(failure.stack, first.stack, lines)


def is_of_another(trace: wire.Trace, before: wire.Trace, lines: Mapping[str, Sequence[int]]) -> bool:
    """Whether what backward found modified was made or written elsewhere than before an edit, in traces of both."""
    ours, theirs = trace.saved[:1], before.saved[:1]
    if not (ours and theirs):
        return False
    places = [[one.made, *(write.stack for write in one.writes)] for one in (*ours, *theirs)]
    same = [_at_one_place(now, then, lines) for now, then in zip(*places, strict=False)]
    return not (len(places[0]) == len(places[1]) and all(same))


def _at_one_place(stack: wire.Stack, before: wire.Stack, lines: Mapping[str, Sequence[int]]) -> bool:
    """Whether two stacks stand at one place; a frame whose line the edit made anew may be any."""
    places = [(frame.file, line_of(frame, lines)) for frame in stack]
    known = [(frame.file, line and frame.line) for frame, (_, line) in zip(before, places, strict=False)]
    return len(stack) == len(before) and places == known


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
    return trace.failure.type, frame.file, line_of(frame, edited.lines if edited is not None else {})


def line_of(frame: wire.Frame, lines: Mapping[str, Sequence[int]]) -> int:
    """The line that a frame stands at before an edit; 0 for a new one."""
    known = lines.get(frame.file, ())
    return known[frame.line - 1] if frame.line <= len(known) else frame.line
