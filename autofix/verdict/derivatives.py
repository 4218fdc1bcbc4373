"""The derivatives without a graph on which a later loss depends."""

from __future__ import annotations

from collections.abc import Sequence

from autofix.experiments.compare import comparable, same_gradients
from autofix.experiments.losses import losses, within_segment
from autofix.probe import wire
from autofix.verdict.runs import Runs


def derivative(runs: Runs) -> wire.Stack:
    """Where a derivative without a graph was taken that enters a loss; () if none is.

    It freed the graph, or found it freed. Or no gradient depends on it either: then it is a term that trains nothing.
    One that only weighs terms is a constant as everybody knows.
    """
    met = runs.freed_by | {runs.failure.stack} if runs.freed_by else set()
    known = [one.stack for one in runs.trace.earlier if one.grad and not one.create and one.stack in met]
    taken = known or runs.letter.derivatives
    if not taken:
        return ()
    if not known and (comparable(runs.nudged) or not same_gradients(runs.letter, runs.nudged)):
        return ()
    return taken[0] if enter(runs, taken) else ()


def enter(runs: Runs, taken: Sequence[wire.Stack]) -> bool:
    """Whether a loss depends on derivatives without a graph, and not on numbers alone by which terms are weighed.

    What only becomes the gradient of an update enters no loss: with steps undone, none depends on it.
    """
    if losses(runs.nudged) == losses(runs.letter):
        return False
    frozen, nudged = runs.letter_frozen, runs.nudged_frozen
    unknown = bool(comparable(frozen) or comparable(nudged))
    return (unknown or losses(nudged) != losses(frozen)) and not weigh(runs, taken)


def weigh(runs: Runs, taken: Sequence[wire.Stack]) -> bool:
    """Whether losses take these derivatives only as numbers by which terms are weighed, to balance what is trained."""
    return bool(taken) and {one.stack for one in runs.sourced.seen("derivative-weighs")} >= set(taken)


def gradient(runs: Runs) -> wire.Stack:
    """The same of a derivative that a backward left in a leaf's `.grad` or in a hook.

    It freed the graph, or what is made of it alone has none, unless there is none because parameters were frozen.
    """
    trace, freed = runs.trace, runs.freed_by
    frozen = any(site.action == "unfreeze" for site in runs.case.pool.sites)
    no_graph = trace.failure is not None and trace.failure.kind == "no_graph" and not frozen
    sent = [one.stack for one in trace.earlier if not (one.grad or one.create)]
    taken = [stack for stack in sent if no_graph or stack in freed]
    after = sum(runs.baseline.counts)
    first, *later = within_segment(runs.letter, after) or (0.0,)
    if not taken or not later or within_segment(runs.doubled, after) == (first, *later):
        return ()
    return taken[0]
