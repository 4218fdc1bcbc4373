"""A target made without gradient is data

## What it says

A function runs with gradients off and gives back both what a loss needs with a graph and what another is aimed at: an
assigner hands out the boxes that it matched, and how good each of them was. It fails where a loss has no graph. Then
not all that is made there was meant without gradient, but a target was: nothing that failed needs its graph. The code
as written, with gradients on, breaks the law where some loss trains what it is aimed at. The reading that keeps the law
has constants there, which is what the target is today.

It is seen in the graph of a loss, in several passes: the target was made with gradients off, and no part of what is
held against it was.

## Where it is silent

Where the prediction was made there, too, or is made of the target; where the same call is also given a target that is
not made there; where something would never learn but by the target; and where training is the same either way.
"""

from __future__ import annotations

from autofix.verdict.shared.aims import KeptByTargets


class ATargetMadeWithoutGradientIsData(KeptByTargets):
    clause = "a target that the code computes with gradients off stays a constant"
    fact = "target-made-off"
    sentence = (
        "with all gradients on, the loss at {place} also trains its target, which the code computes with gradients off"
    )
