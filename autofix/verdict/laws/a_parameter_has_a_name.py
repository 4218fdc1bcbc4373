"""A parameter has a name

## What it says

An `nn.Parameter` is made to be trained. The code as written breaks the law where a module puts one straight into a
function and keeps only what that gives: `self.scale = torch.exp(nn.Parameter(…))`. The parameter gets a gradient, and
nothing holds it, so that no optimizer can train it. The reading that keeps the law gives it a name in the module, and
computes from it in each pass. It is seen by a run of that reading: an optimizer then owns more parameters, and all have
gradients.

## Where it is silent

Where the program holds the parameter, as one that is frozen or updated by hand. Where the function does not keep what
it gives in a range: `nn.Parameter(torch.randn(3)) * 0.1` may be meant to begin with that value. Where the optimizers
would not own it by that name either.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.experiments.readings.learning import orphans
from autofix.verdict.law import KeptByChange, Runs, at


class AParameterHasAName(KeptByChange):
    clause = "the parameter is an attribute of its module, and is trained"
    change = "registered"

    def seen(self, runs: Runs) -> str:
        letter = runs.letter
        lost = letter.seen("unreachable")
        if not lost or not runs.case.pool.written["registered"] or comparable(letter):
            return ""
        named = runs.of(self.changed(runs.code))
        if comparable(named) or named.seen("unreachable") or set(orphans(named)) - set(orphans(letter)):
            return ""
        gained = sum(map(len, named.names)) - sum(map(len, letter.names))
        where = at(lost[0].stack)
        said = f"nothing keeps the parameter that {where} makes: it gets a gradient, but no optimizer can train it"
        return said if gained > 0 else ""
