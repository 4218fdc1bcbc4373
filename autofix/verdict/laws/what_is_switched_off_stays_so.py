"""What is switched off stays so

## What it says

A loss has no graph because gradients are off around it, and it is meant to have one. That does not switch them on for
another network that is applied there: a temperature is fitted within a validation, to what the model gives there. The
code with all gradients on breaks the law where a later step of an optimizer also uses what that loss left in
parameters that no step of its own pass takes it from. The reading that keeps it is the code without these gradients.

## Where it is silent

Where some other loss leaves gradient, too; where the graph is not lost by a mode; and of whatever a step that follows
the loss uses itself: that it is meant to train.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.verdict.law import KeptByChange, at

if TYPE_CHECKING:
    from autofix.core.model import Reading
    from autofix.verdict.runs import Runs


class WhatIsSwitchedOffStaysSo(KeptByChange):
    name = "what-is-switched-off-stays-so"
    clause = "what runs without gradients is not trained by a loss that follows it there"

    def changed(self, reading: Reading) -> Reading:
        return replace(reading, separated=True)

    def seen(self, runs: Runs) -> str:
        sites = runs.case.pool.sites
        if not sites or any(site.action != "grad" for site in sites):
            return ""
        left = {fact.stack for fact in runs.letter.seen("cross-talk")}
        if left != {runs.failure.stack}:
            return ""
        return f"a step also uses what the loss of {at(runs.failure.stack)} left in what was run without gradients"
