"""What is switched off stays so

## What it says

A derivative is taken, or a loss goes backward, where the script has gradients off: a sampler is guided by a classifier,
a temperature is fitted within a validation. That call is meant to have a graph. All else that is computed there is not:
what leaves the region is data to the losses outside, and no step outside uses what a loss in there left in parameters.

The code with all gradients on breaks the law where it trains otherwise than with those alone that the calls in the
region need. This is the reading that keeps it.

## Where it is silent

Where the failing call does not run where gradients are off, so that its loss goes through what was switched off; where
a loss outside needs that graph, too, since a term of it, or a parameter that an optimizer owns, has no other; where
the graph is not lost by a mode; and where training is the same either way.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.experiments.readings import deprived
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import PASSES, KeptByChange, at
from autofix.verdict.runs import Runs


class WhatIsSwitchedOffStaysSo(KeptByChange):
    name = "what-is-switched-off-stays-so"
    clause = "gradients are on for what needs them there, and what leaves it is a constant"
    change = "off"

    def seen(self, runs: Runs) -> str:
        sites, letter = runs.case.pool.sites, runs.letter
        if not sites or any(site.action != "grad" for site in sites):
            return ""
        inside = {fact.stack for fact in letter.seen("backward-while-off")}
        left = [fact for fact in letter.seen("cross-talk") if fact.stack in inside]
        leaves = [fact for fact in letter.seen("goes-into-off") if int(fact.subject) >= PASSES]
        if runs.failure.stack not in inside or not (left or leaves) or letter.seen("needs-what-is-off"):
            return ""
        other = self.changed(runs.code)
        narrow = runs.of(other)
        if comparable(narrow) or any(deprived(narrow, letter)) or trains_alike(runs, other, runs.code):
            return ""
        if leaves:
            return f"the backward of {at(leaves[0].stack)} goes on into what ran without gradients"
        return f"a step also uses the gradient that the loss of {at(left[0].stack)} left in what ran without gradients"
