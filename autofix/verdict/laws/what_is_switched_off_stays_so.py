"""What is switched off stays so

## What it says

A derivative is taken, or a loss goes backward, where the script has gradients off: a sampler is guided by a classifier,
a temperature is fitted within a validation. That call is meant to have a graph. All else that is computed there is not:
what leaves the region is data to the losses outside, and no step outside uses what a loss in there left in parameters.

Or a loss outside fails since it has no graph but that of the region, and another one that has a graph of its own is
weighed by what is made there, too: by the importance of a sample, or a coefficient. The loss that failed is meant to
have a graph, and the weight is a constant, or the other one would also fall by what its weights become.

The code with all gradients on breaks the law where it trains otherwise than with those alone that the calls in the
region need, or the loss that has no other graph. This is the reading that keeps it.

## Where it is silent

Where the failing call does not run where gradients are off, and what another loss takes from there is no weight of its
terms alone, is what the failing loss takes, too, or has parameters which that loss does not train otherwise, as a gate
has that is to learn; where a loss outside needs that graph, too, since a term of it, or a parameter that an optimizer
owns, has no other; where the graph is not lost by a mode; and where training is the same either way.
"""

from __future__ import annotations

from autofix.verdict.law import KeptByChange, Runs
from autofix.verdict.shared import lifted


class WhatIsSwitchedOffStaysSo(KeptByChange):
    clause = "gradients are on there only for what needs them, and all else stays a constant"
    change = "off"

    def seen(self, runs: Runs) -> str:
        found = lifted.inside(runs) or lifted.weighed(runs)
        return f"with all gradients on, {lifted.said(found[0])}" if found and lifted.trains_more(runs) else ""
