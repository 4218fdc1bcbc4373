"""The losses that a run started its backward calls from: whether two runs agree on them."""

from __future__ import annotations

import math

from autofix.probe import wire

_MOST = 4
_SAME = 1e-4
"""By which part of them losses may differ that are made of the same terms."""


def losses(trace: wire.Trace, after: int = 0) -> list[tuple[float, ...]]:
    """The losses before each of the first steps, and of the first that come after so many, as a failure may."""
    every = [step.losses for step in trace.whole_steps]
    return every[:_MOST] + every[max(_MOST, after) :][:_MOST]


def differ(one: wire.Trace, other: wire.Trace) -> bool:
    """Whether a loss of two runs differs by a bit, however late, or one of them ends before it has any.

    What only a derivative by data is taken of is none: a sampler goes where that leads, and trains nothing by it.
    """
    pairs = zip(one.whole_steps, other.whole_steps, strict=False)
    return len(losses(one)) != len(losses(other)) or any(_of_training(a) != _of_training(b) for a, b in pairs)


def _of_training(step: wire.Step) -> list[float]:
    return [loss for place, loss in enumerate(step.losses) if place not in step.by_data]


def same_losses(one: wire.Trace, other: wire.Trace, after: int = 0) -> bool:
    """Whether the first steps of two runs are made of as many losses, of the same size."""
    return all(same_values(a, b) for a, b in zip(losses(one, after), losses(other, after), strict=False))


def same_values(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether the losses before a step are as many, and of the same size."""
    return len(one) == len(other) and all(math.isclose(*both, rel_tol=_SAME) for both in zip(one, other, strict=True))


def same_in_turn(one: wire.Trace, other: wire.Trace) -> bool:
    """Whether the first losses of two runs have the same size, wherever steps stand between them."""
    each = ([loss for step in losses(run) for loss in step] for run in (one, other))
    return all(math.isclose(*both, rel_tol=_SAME) for both in zip(*each, strict=False))


def within_segment(trace: wire.Trace, after: int) -> tuple[float, ...]:
    """The losses between one step and the next, or in the first evaluation of its closure: no parameter moves there."""
    whole = trace.whole_steps
    before = whole[after - 1].calls if 0 < after <= len(whole) else 0
    found = next((step.losses for step in whole[after : after + 1]), ())
    evaluated = (step.calls for step in trace.steps if step.settings == "closure" and step.calls > before)
    return found[: next(evaluated, before + len(found)) - before]
