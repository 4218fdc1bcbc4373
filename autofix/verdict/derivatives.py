"""The derivatives without a graph on which a later loss depends."""

from __future__ import annotations

from collections.abc import Sequence

from autofix.experiments.compare import comparable, same_gradients
from autofix.experiments.losses import differ, within_segment
from autofix.probe import wire
from autofix.verdict.runs import Runs


def derivative(runs: Runs) -> wire.Stack:
    """Where a derivative without a graph was taken that enters a loss; () if none is.

    It freed the graph, or found it freed. Or no gradient depends on it either: then it is a term that trains nothing.
    Any other that is a plain number to losses is a constant as everybody knows.
    """
    met = runs.freed_by | {runs.failure.stack} if runs.freed_by else set()
    known = [one.stack for one in runs.trace.earlier if one.grad and not one.create and one.stack in met]
    taken = known or runs.letter.derivatives
    if not taken:
        return ()
    in_vain = not comparable(runs.nudged) and same_gradients(runs.letter, runs.nudged)
    if not (known or in_vain):
        return ()
    return taken[0] if depends(runs) and (in_vain or not _settled(runs, taken)) else ()


def depends(runs: Runs) -> bool:
    """Whether a loss depends on derivatives without a graph.

    What only becomes the gradient of an update enters no loss: with steps undone, none depends on it.
    """
    if not differ(runs.nudged, runs.letter):
        return False
    frozen, nudged = runs.letter_frozen, runs.nudged_frozen
    return bool(comparable(frozen) or comparable(nudged)) or differ(nudged, frozen)


def plain(runs: Runs, taken: Sequence[wire.Stack]) -> bool:
    """Whether losses take these derivatives only as plain numbers, as the reference tells.

    They weigh terms, are cut by the code itself, or move what a network is fed.
    """
    return bool(taken) and {one.stack for one in runs.sourced.seen("derivative-is-plain")} >= set(taken)


def _settled(runs: Runs, taken: Sequence[wire.Stack]) -> bool:
    """Whether derivatives are plain numbers, and the edited script takes no fewer of them than the code.

    To which point fewer lead is seen only for these passes: in others it may be another one.
    """
    steps = zip(runs.letter.whole_steps, runs.edited.whole_steps, strict=False)
    return plain(runs, taken) and all(edited.calls >= code.calls for code, edited in steps)


def gradient(runs: Runs) -> wire.Stack:
    """The same of a derivative that a backward left in a leaf's `.grad` or in a hook.

    It freed the graph, or what is made of it alone has none, unless there is none because parameters were frozen.
    """
    trace, freed = runs.trace, runs.freed_by
    frozen = any(site.action == "unfreeze" for site in runs.case.pool.sites)
    no_graph = trace.failure is not None and trace.failure.kind == "no_graph" and not frozen
    sent = [one.stack for one in trace.earlier if not (one.grad or one.create)]
    taken = [stack for stack in sent if no_graph or stack in freed]
    after = runs.before_failure
    first, *later = within_segment(runs.letter, after) or (0.0,)
    if not taken or not later or within_segment(runs.doubled, after) == (first, *later):
        return ()
    return () if _settled(runs, taken) else taken[0]
