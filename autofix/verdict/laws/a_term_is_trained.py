"""A term is trained

## What it says

The code as written breaks it where a loss has a term that is made of a derivative (a penalty on the slope of a critic,
a residual), and all derivatives in it are numbers: `autograd.grad` was not asked for a graph. The term is computed,
added and shown, and trains nothing. Nobody adds to a loss what is there for nothing. The reading that keeps the law
gives these derivatives their graph.

It is seen by a run in which what such derivatives give is a little larger: losses are others then, pass for pass, and
no gradient is. So nothing but a term of the loss depends on them, and no weight, target, input or step.

## Where it is silent

Where the code says that the derivative is to be a number: by `create_graph=False`, or by a cut behind it, for then the
graph trains nothing either. And where some of these derivatives have a graph, or a gradient depends on one.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from autofix.experiments.compare import comparable, same_gradients
from autofix.probe import wire
from autofix.verdict.derivatives import depends, plain
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import PASSES, KeptByGraphs, Runs


class ATermIsTrained(KeptByGraphs):
    clause = "this term trains through the derivative"
    sentence = (
        "a term of the loss is made of the derivative taken at {place}, which has no graph: the term trains nothing"
    )

    def numbers(self, runs: Runs) -> tuple[wire.Stack, ...]:
        """The derivatives without a graph that terms of losses are made of, and nothing else."""
        letter = runs.letter
        places = tuple(dict.fromkeys(letter.derivatives))
        if not places or letter.with_graph or comparable(runs.nudged) or not same_gradients(letter, runs.nudged):
            return ()
        pairs = zip(letter.whole_steps, runs.nudged.whole_steps, strict=False)
        if (
            sum(one.losses != other.losses for one, other in pairs) < PASSES
            or not depends(runs)
            or plain(runs, places)
            or any(_is_said(runs, one) for one in places)
        ):
            return ()
        through = replace(runs.code, through=places)
        return () if runs.starves(through) or trains_alike(runs, through, runs.code) else places


def _is_said(runs: Runs, stack: wire.Stack) -> bool:
    """Whether a call says itself whether what it gives has a graph."""
    found = (node for _, _, node in runs.sources.nodes(stack[:1]) if isinstance(node, ast.Call))
    return any(word.arg in ("create_graph", None) for call in found for word in call.keywords)
