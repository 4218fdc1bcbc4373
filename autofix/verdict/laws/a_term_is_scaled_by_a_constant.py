"""A term is scaled by a constant

## What it says

A program divides a loss by what it was in an earlier pass, to see by how much it fell. Where the quotient is minimised,
the loss above the line falls. If the one below has a graph, it is made to rise. Yet both are the same loss: in the pass
that keeps it they are one tensor, and the quotient is 1, whatever the parameters are. The code as written breaks the
law there. The reading that keeps it has a constant below the line in all passes, also in the first.

It is seen in the graphs of the losses: a term of a loss is a number that is divided by itself, later passes divide one
term by the same number, and what they divide was made by the same operation.

## Where it is silent

Where the quotient is no addend of the loss, but is held against something or weighs something: what is below the line
may then be meant to be trained. Where passes use the earlier value, or anything else of earlier ones, in another way.
Where what is divided is no single number. And where some parameter gets its gradient by the earlier value alone.
"""

from __future__ import annotations

from autofix.verdict.law import KeptByChange, Runs, at


class ATermIsScaledByAConstant(KeptByChange):
    clause = "what a term is divided by is a constant"
    change = "constant"

    def seen(self, runs: Runs) -> str:
        places = runs.letter.seen("divided-by-itself")
        if not places or not runs.letter.reused or runs.deprives(self.changed(runs.code)):
            return ""
        return (
            f"the loss at {at(places[0].stack)} divides a term by what the same term was in an earlier iteration, and "
            "also trains this divisor, the opposite way"
        )
