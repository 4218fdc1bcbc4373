"""Doubts about an edit that keeps the gradients: where the code can mean something else than it says.

What each is about and why it is one: docs/decisions/0003-doubts.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autofix.compare import comparable, same_gradients, starves
from autofix.model import Cause, Effect
from autofix.probe import wire
from autofix.readings import ambiguous

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from autofix.model import Diagnosis
    from autofix.references import References

_GRAPH = re.compile(rb"create_graph\s*=\s*True")


class Doubts:
    """What the references and runs of one failure leave in doubt."""

    def __init__(self, references: References, diagnosis: Diagnosis) -> None:
        self._references = references
        self._diagnosis = diagnosis
        self._constant: wire.Stack | None = None

    def about(self, files: Mapping[Path, bytes], live: wire.Trace, effect: Effect) -> tuple[wire.Guard, ...]:
        """The guards that count for a candidate whose live run and effect are known; each lowers *safe* to *unsafe*."""
        return (*self._guards(files, live, effect), *self._made_once(effect))

    def _guards(self, files: Mapping[Path, bytes], live: wire.Trace, effect: Effect) -> tuple[wire.Guard, ...]:
        """The guards of the runs: a doubt about shared losses matters where sharing a graph is what failed."""
        shared = self._diagnosis.cause is Cause.FREED_GRAPH
        # An edit that keeps every gradient keeps the doubt about the code as it stands.
        inherited = self._references.live(self._references.bases()[0]).guards if effect.keeps_gradients else ()
        both = (*live.guards, *inherited)
        found = tuple(guard for guard in live.guards if guard.name not in ("mixed", "wasted"))
        if ambiguous(self._references.live(self._references.bases()[0])):  # MAML's inner step is no update
            found = (*found, *[guard for guard in live.guards if guard.name == "wasted"][:1])
        if shared:
            found = (*found, *[guard for guard in both if guard.name == "mixed"][:1])
        if stack := (self._constant_derivative() if live.derivatives else ()) or self._constant_gradient():
            detail = (
                "this derivative enters a later loss as a constant; with create_graph=True it would be trained through"
            )
            found = (*found, wire.Guard("constant", detail, stack))
        elif live.derivatives and effect.keeps_gradients and self._half_given(files, live):
            detail = "another derivative enters a loss as a constant; with create_graph=True it too would be trained"
            found = (*found, wire.Guard("constant", detail, ()))
        found = (*found, *self._untrained(), *self._unused())
        return (*found, *self._unowned(live)) if effect.keeps_gradients else found

    def _untrained(self) -> tuple[wire.Guard, ...]:
        """A value that leaves the graph and comes back as a term of a loss: no gradient depends on it.

        As an input, a target or a weight it would count for one; a term that trains nothing was hardly meant so.
        """
        if self._diagnosis.cause is not Cause.CONVERSION:
            return ()
        full, nudged = self._references.live(self._references.bases()[0]), self._references.nudged()
        if comparable(nudged) or _losses(nudged) == _losses(full) or not same_gradients(full, nudged):
            return ()
        detail = "what leaves the graph here comes back as a term of a loss, where no gradient depends on it"
        return (wire.Guard("constant", detail, self._diagnosis.failure.stack),)

    def _unused(self) -> tuple[wire.Guard, ...]:
        """A derivative of which nothing is more than zero: the output was meant to be made of what it is asked for."""
        full = self._references.live(self._references.bases()[0])
        stacks = [done.stack for done in full.performed if done.kind == "nothing_used"]
        detail = "the output is not made of anything that this derivative is asked for; zeros can hardly be meant"
        return tuple(wire.Guard("unused", detail, stack) for stack in stacks[:1])

    def _unowned(self, live: wire.Trace) -> tuple[wire.Guard, ...]:
        """A parameter that no optimizer owns yet and that the edit cuts off: a later phase may train it."""
        full = self._references.live(self._references.bases()[0])
        if full.outcome != "stopped" or not full.steps:
            return ()
        # What the script itself writes (a target network, an average) is kept up by hand, not trained.
        known = {name for names in full.names[: len(full.counts)] for name in names}
        known |= {state.name for state in full.states if state.changed}
        still = {name for reach in live.reaches for name in reach.parameters}
        for reach in full.reaches:
            if gone := [name for name in reach.parameters if name not in known | still]:
                detail = f"{gone[0]} gets no gradient any more; no optimizer owns it yet, but one made later may"
                return (wire.Guard("unowned", detail, reach.stack),)
        return ()

    def _made_once(self, effect: Effect) -> tuple[wire.Guard, ...]:
        """A cut is for what each pass hands to the next; what several passes share may have to be computed anew."""
        name = self._references.bases()[0]
        full = self._references.live(name)
        if effect in (Effect.IDENTICAL, Effect.CHANGED, Effect.UNKNOWN) or not full.carried:
            return ()
        if effect is Effect.REFRESHED:
            # As a constant it would leave a parameter untrained: that cannot be meant.
            starved = bool(full.reused) and starves(full, self._references.live(name.replace("full", "truncated")))
            doubted = bool(full.reused) and not starved
            detail = "what was made before these passes is computed anew in each; it may be meant as a constant"
        else:
            # Two passes that share it look like two that hand it on, but it was made in the first alone.
            doubted = bool(full.reused) or not self._diagnosis.trace.remade
            detail = (
                "what was made before these passes gets no gradient from later ones; computed anew in each it would"
            )
        if not doubted:
            return ()
        return (wire.Guard("made-once", detail, next(iter(full.reused), self._diagnosis.failure.stack)),)

    def _constant_derivative(self) -> wire.Stack:
        """Where a derivative without a graph freed the graph, or found it freed, and enters a loss; () if not.

        Whether the loss is meant to train through the derivative (a physics residual, a gradient penalty) or not (a
        first-order inner step) the code does not say.
        """
        if self._constant is None:
            freed = {saved.freed_by for saved in self._diagnosis.trace.saved if saved.freed_by}
            failure = self._diagnosis.trace.failure
            met = freed | ({failure.stack} if failure is not None else set())
            taken = [b.stack for b in self._diagnosis.trace.earlier if b.grad and not b.create and b.stack in met]
            self._constant = ()
            if taken and self._diagnosis.cause is Cause.FREED_GRAPH:
                full = self._references.live(self._references.bases()[0])
                if _losses(self._references.nudged()) != _losses(full):
                    self._constant = taken[0]
        return self._constant

    def _constant_gradient(self) -> wire.Stack:
        """The same of a derivative that a backward freed its graph for and left in a leaf's `.grad` or in a hook."""
        cause, trace = self._diagnosis.cause, self._diagnosis.trace
        if cause not in (Cause.FREED_GRAPH, Cause.NO_GRAPH):
            return ()
        freed = {saved.freed_by for saved in trace.saved if saved.freed_by}
        sent = [b.stack for b in trace.earlier if not (b.grad or b.create)]
        taken = [stack for stack in sent if cause is Cause.NO_GRAPH or stack in freed]
        after = sum(self._references.baseline.counts)
        first, *later = _segment(self._references.live("full"), after) or (0.0,)
        if not taken or not later or _segment(self._references.doubled(), after) == (first, *later):
            return ()
        return taken[0]

    def _half_given(self, files: Mapping[Path, bytes], live: wire.Trace) -> bool:
        """Whether an edit gives one derivative a graph, and a loss depends on another that has none.

        A loss that means to train through one term of a residual hardly means to take the other for a number.
        """
        read = self._references.read
        if all(len(_GRAPH.findall(data)) <= len(_GRAPH.findall(read(path))) for path, data in files.items()):
            return False
        return _losses(self._references.candidate_nudged(files)) != _losses(live)


def _losses(trace: wire.Trace) -> list[tuple[float, ...]]:
    return [step.losses for step in trace.steps if step.settings != "closure"][:4]


def _segment(trace: wire.Trace, after: int) -> tuple[float, ...]:
    """The losses between one step and the next, or in the first evaluation of its closure: no parameter moves there."""
    whole = [step for step in trace.steps if step.settings != "closure"]
    before = whole[after - 1].calls if 0 < after <= len(whole) else 0
    losses = next((step.losses for step in whole[after : after + 1]), ())
    evaluated = (step.calls for step in trace.steps if step.settings == "closure" and step.calls > before)
    return losses[: next(evaluated, before + len(losses)) - before]
