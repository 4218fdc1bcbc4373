"""A forward is differentiated alike

## What it says

A loss is made of several derivatives of one forward by its inputs: the terms of a differential equation, the slopes of
a field. Where one of them has a graph, so that the loss trains through it, the others are meant to have one, too. As
the code is written they are numbers: some terms of the equation train the network, and others only move the target.

It is seen where torch refuses to differentiate a derivative that has no graph, or where the code asks for one with
`create_graph`, while another derivative of the same operations, or of the same parameters at the same point, has no
graph, and changes a loss if it is changed.

## Where it is silent

Where a derivative is taken by parameters: an inner step, a weight of a term, an update. Where it only weighs terms, and
where what it gives reaches a loss through steps by hand alone. And where no derivative of that forward has a graph, but
the loss has one: the whole may be meant so, and it is asked.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.probe import wire
from autofix.verdict.derivatives import depends, plain
from autofix.verdict.law import KeptByGraphs, Runs


class AForwardIsDifferentiatedAlike(KeptByGraphs):
    clause = "the loss trains through each derivative of that forward"
    sentence = (
        "the derivative taken at {place} has no graph, so that the loss does not train through it; "
        "another derivative of the same forward has one"
    )

    def numbers(self, runs: Runs) -> tuple[wire.Stack, ...]:
        """The derivatives by inputs that enter a loss as numbers, beside others that have a graph."""
        found = [fact.stack for fact in runs.letter.seen("slope-without-graph")]
        places = tuple(one for one in found if not plain(runs, [one]))
        if not places or not depends(runs):
            return ()
        return () if runs.starves(replace(runs.code, through=places)) else places
