"""What was collected is data

## What it says

A program collects data with the networks that it trains: it draws actions, or takes the label that scores most, and
then trains on them in several passes. What was computed along with such data is as old as they are: the
log-probability of an action when it was drawn, the value that was expected then, the centre of a class. In all these
passes it is a constant. The code as written breaks that where a graph is kept with it: the gradient would be that of
parameters which are no more. Nor is it computed anew: the data would have to be drawn anew, too.

That something is data is seen by two things together. Numbers were drawn from it, by its values, which have no gradient
by their nature and which each of these passes uses; or it was computed by modules that were told to evaluate
(`net.eval()`), and that train in these passes. And each of these passes applies all the parameters that it was made of
anew, in the same way, so that they learn from their own forward.

## Where it is silent

Where nothing was drawn and the modules are always in one mode, as of the prototypes of a few examples, which may be
meant to learn; and where some parameter is not applied anew, as that of a trunk under several heads.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.verdict.law import KeptByChange, Runs, at


class WhatWasCollectedIsData(KeptByChange):
    clause = "what was collected is a constant in all iterations that use it"
    change = "constant"

    def seen(self, runs: Runs) -> str:
        if not runs.may_be_data or comparable(runs.sourced) or not runs.sourced.collected:
            return ""
        if runs.deprives(self.changed(runs.code)):
            return ""
        where = at(runs.sourced.reused[0])
        return f"the backward at {where} also goes on into what was collected before, which older parameters computed"
